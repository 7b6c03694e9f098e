"""What a tensor is: creation, flags, types, memory, conversion, copying."""

import copy
import io
import pickle
import warnings

import numpy as np
import pytest

import s2sgrad.torch as torch


def leaf(*values, dtype=torch.float64):
    return torch.tensor(list(values), dtype=dtype, requires_grad=True)


FACTORIES = [
    lambda k: torch.ones(2, 3, **k),
    lambda k: torch.zeros((2, 3), **k),
    lambda k: torch.full((2,), 1.5, **k),
    lambda k: torch.eye(3, **k),
    lambda k: torch.randn(4, **k),
    lambda k: torch.rand((4,), **k),
    lambda k: torch.empty(2, **k),
    lambda k: torch.linspace(0, 1, 5, **k),
    lambda k: torch.arange(3.0, **k),
    lambda k: torch.zeros_like(torch.ones(2), **k),
    lambda k: torch.tensor([1.0], **k),
    lambda k: torch.asarray([1.0], **k),
    lambda k: torch.ones(1).new_full((2,), 3.0, **k),
    lambda k: torch.ones(1).new_tensor([1.0], **k),
    lambda k: torch.normal(0.0, 1.0, (2,), **k),
]


@pytest.mark.parametrize("make", FACTORIES)
def test_factories_make_leaves(make):
    with torch.no_grad():
        t = make({"requires_grad": True})
    assert t.requires_grad and t.is_leaf and t.grad_fn is None
    assert not make({}).requires_grad


@pytest.mark.parametrize(
    "make", [*FACTORIES, lambda k: torch.as_tensor(np.ones(2), **k), lambda k: torch.Generator(**k)]
)
def test_factories_know_the_cpu_only(make):
    make({"device": "cpu"}), make({"device": torch.device("cpu")}), make({"device": None})
    with pytest.raises(RuntimeError, match="there is no device 'cuda': tensors live on the CPU"):
        make({"device": "cuda"})


def test_like_and_new_do_not_inherit_the_flag():
    x = leaf(1.0, 2.0)
    assert not any(
        t.requires_grad for t in (torch.ones_like(x), x.new_zeros(3), x.new_tensor([1.0]), x.new_full((2,), 3.0))
    )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
def test_types_that_carry_gradients(dtype):
    x = torch.ones(2, dtype=getattr(torch, dtype), requires_grad=True)
    (x * x).sum().backward(torch.ones((), dtype=x.dtype))
    assert x.grad.dtype is x.dtype
    assert x.grad.to(torch.complex128).tolist() == [2, 2]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "bool"])
def test_types_that_do_not(dtype):
    with pytest.raises(RuntimeError, match="floating point"):
        torch.zeros(2, dtype=getattr(torch, dtype), requires_grad=True)


def test_default_types():
    assert torch.tensor(1.0).dtype is torch.float32 and torch.tensor(1).dtype is torch.int64
    assert torch.tensor(1j).dtype is torch.complex64 and torch.tensor(True).dtype is torch.bool
    assert torch.tensor(np.array([1.0])).dtype is torch.float64
    try:
        torch.set_default_dtype(torch.float64)
        assert torch.tensor(1.0).dtype is torch.float64 and torch.ones(1).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    with pytest.raises(TypeError):
        torch.set_default_dtype(torch.int64)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: torch.ones(2) + torch.ones(2, dtype=torch.float64), "float64"),
        (lambda: torch.ones(2) + torch.tensor(1.0, dtype=torch.float64), "float32"),
        (lambda: torch.ones(2, dtype=torch.int64) * 0.5, "float32"),
        (lambda: torch.ones(2, dtype=torch.int64) + torch.tensor(1.0, dtype=torch.float64), "float64"),
        (lambda: torch.ones(2, dtype=torch.float16) + 1.0, "float16"),
        (lambda: torch.ones(2, dtype=torch.float16) + torch.ones(2, dtype=torch.bfloat16), "float32"),
        (lambda: torch.ones(2) * 1j, "complex64"),
        (lambda: torch.ones(2, dtype=torch.float64) * 1j, "complex128"),
        (lambda: torch.tensor([1, 2]) / 2, "float32"),
        (lambda: torch.tensor([1, 2]) / torch.tensor([1, 2]), "float32"),
        (lambda: torch.tensor([1, 2]) ** 2, "int64"),
        (lambda: torch.tensor([True]) + True, "bool"),
        (lambda: torch.tensor([True, True]).sum(), "int64"),
        (lambda: torch.exp(torch.tensor([1])), "float32"),
        (lambda: torch.tensor([1], dtype=torch.uint8) + torch.tensor([1], dtype=torch.int8), "int16"),
    ],
)
def test_promotion(make, expected):
    assert make().dtype is getattr(torch, expected)


def test_gradients_come_back_in_the_type_of_the_leaf():
    x = leaf(1.0, 2.0, dtype=torch.float32)
    (x.double() * torch.tensor([2, 3]) + torch.ones(2, dtype=torch.float16)).sum().backward()
    assert x.grad.dtype is torch.float32 and x.grad.tolist() == [2, 3]


def test_flags():
    x = leaf(1.0)
    y = x * 2
    assert not y.is_leaf and y.requires_grad and (y > 1).requires_grad is False
    with pytest.raises(AttributeError):
        y.is_leaf = True
    with pytest.raises(RuntimeError, match="leaf"):
        y.requires_grad = False
    with pytest.raises(RuntimeError, match="leaf"):
        y.requires_grad = True
    assert y.requires_grad_() is y
    with pytest.raises(RuntimeError, match="must be a bool"):
        x.requires_grad = 1
    with torch.no_grad():
        z = x * 2
    assert z.is_leaf and not z.requires_grad


def test_grad_setter():
    x = leaf(1.0, 2.0)
    given = torch.tensor([1.0, 1.0], dtype=torch.float64)
    x.grad = given
    assert x.grad is given
    (x * 3).sum().backward()
    assert x.grad is given and given.tolist() == [4, 4]
    for bad, error in (
        (3.0, TypeError),
        (torch.ones(3, dtype=torch.float64), RuntimeError),
        (torch.ones(2), RuntimeError),
    ):
        with pytest.raises(error):
            x.grad = bad
    with pytest.raises(RuntimeError):
        x.grad = x
    x.grad = None
    assert x.grad is None


def test_reading_the_grad_of_a_result_warns():
    y = leaf(1.0) * 2
    with pytest.warns(UserWarning, match="non-leaf"):
        assert y.grad is None
    y.retain_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert y.grad is None


def test_memory_is_shared_or_copied():
    a = np.array([1.0, 2.0])
    shared, given, copied = torch.from_numpy(a), torch.as_tensor(a), torch.tensor(a)
    a[0] = 7
    assert shared.tolist() == given.tolist() == [7, 2] and copied.tolist() == [1, 2]
    shared.numpy()[1] = 9
    assert a.tolist() == [7, 9]


def test_numpy_of_a_tracked_tensor_is_refused():
    x = leaf(1.0)
    for f in (x.numpy, lambda: np.asarray(x), (x * 2).numpy):
        with pytest.raises(RuntimeError, match="detach"):
            f()
    assert x.detach().numpy().tolist() == x.numpy(force=True).tolist() == [1.0]


def test_tensor_of_a_tensor_warns_and_detaches():
    x = leaf(1.0)
    with pytest.warns(UserWarning):
        y = torch.tensor(x)
    assert not y.requires_grad and y.tolist() == [1.0]


def test_numbers():
    x = torch.tensor([2.5], requires_grad=True)
    assert (x.item(), float(x), int(x), bool(x)) == (2.5, 2.5, 2, True)
    assert [1, 2, 3][torch.tensor(1)] == 2
    two = torch.ones(2)
    with pytest.raises(RuntimeError):
        two.item()
    with pytest.raises(ValueError):
        float(two)
    with pytest.raises(RuntimeError):
        bool(two)
    with pytest.raises(TypeError):
        len(torch.tensor(1.0))
    with pytest.raises(TypeError):
        iter(torch.tensor(1.0))


def test_attributes_hash_and_equality():
    x, y = leaf(1.0, 2.0), leaf(1.0, 3.0)
    x.note = "kept"
    node = (x * 2).grad_fn.next_functions[0][0]
    assert node.variable is x and node.variable.note == "kept" and not hasattr(x.detach(), "note")
    assert (x == y).tolist() == [True, False] and {x: 1}[x] == 1 and y not in {x: 1}


def test_data():
    x = leaf(1.0, 2.0)
    y = x * 1
    z = (y * y).sum()
    y.data.zero_()
    assert y._version == 0
    z.backward()
    assert x.grad.tolist() == [0, 0]  # a write through .data is not seen: the gradient uses the new values
    x.data = torch.tensor([5.0, 6.0, 7.0], dtype=torch.float64)
    assert x.requires_grad and x.shape == (3,)


def test_casts_are_recorded():
    x = leaf(1.0, 2.0, dtype=torch.float32)
    assert x.to(torch.float32) is x and x.double().requires_grad and x.cpu() is x
    x.half().float().sum().backward()
    assert x.grad.tolist() == [1, 1]
    with pytest.raises(RuntimeError):
        x.cuda()


def test_calls_that_look_alike():
    """What was learnt from one call serves the next only as far as it goes."""
    x = leaf(1.5, 2.5)
    assert x.float().requires_grad and not x.long().requires_grad and x.float().requires_grad
    assert (x.view(2, 1) * x).requires_grad and (x.view(2, 1) * x.detach()).requires_grad
    assert not (x.detach().view(2, 1) * x.detach()).requires_grad
    for a in (x, x.view(1, 2), x.detach().view(1, 2)):
        y = torch.cat([a, a]) * torch.cat([a, a])
        assert y.requires_grad is a.requires_grad
    for place, expected in ((0, [6, 0]), (1, [0, 10])):
        y = (x * x).index_select(0, torch.tensor([place, place]))
        assert torch.autograd.grad(y.sum(), x)[0].tolist() == expected


def test_parameters():
    p = torch.nn.Parameter(torch.ones(2))
    assert (
        p.requires_grad and isinstance(p, torch.Tensor) and not torch.nn.Parameter(torch.ones(1), False).requires_grad
    )
    ((p * 2).sin() @ p).backward()
    assert p.grad.shape == (2,)


def test_repr():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert repr(x) == "tensor([1., 2.], requires_grad=True)"
    assert repr(x * 2) == "tensor([2., 4.], grad_fn=<MulBackward0>)"
    assert repr(torch.tensor([1, 2])) == "tensor([1, 2])"
    assert repr(torch.tensor(0.5)) == "tensor(0.5000)"
    assert repr(torch.ones(1, dtype=torch.float64)) == "tensor([1.], dtype=torch.float64)"


def test_deepcopy():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    a, b = copy.deepcopy([x, x])
    assert a is b and a is not x and a.requires_grad and a.grad.tolist() == [2, 4]
    a.grad.zero_()
    assert x.grad.tolist() == [2, 4]
    with pytest.raises(RuntimeError, match="leaves"):
        copy.deepcopy(x * 2)


def test_pickle_and_save():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    y = pickle.loads(pickle.dumps(x))
    assert y.requires_grad and y.is_leaf and y.grad is None and y.tolist() == [1, 2]
    assert pickle.loads(pickle.dumps(x * 2)).is_leaf
    file = io.BytesIO()
    torch.save({"w": x}, file)
    file.seek(0)
    assert torch.load(file)["w"].tolist() == [1, 2]


def test_numpy_functions_and_numbers_record():
    x = leaf(1.0, 2.0)
    y = np.sin(x) * np.float64(3) + np.float64(2) * x
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 3 * np.cos([1, 2]) + 2)
    assert (x * np.array([1.0, 2.0])).tolist() == [1, 4]
    with pytest.raises(TypeError):
        np.array([1.0, 2.0]) * x


def test_variable_is_a_tensor():
    from s2sgrad.torch.autograd import Variable, variable

    v = Variable(torch.ones(2), requires_grad=True)
    assert (
        type(v) is torch.Tensor
        and v.requires_grad
        and isinstance(torch.ones(1), Variable)
        and not isinstance(3, Variable)
    )
    with pytest.raises(RuntimeError):
        variable(torch.ones(1))


def test_asarray_shares_or_copies():
    a = np.array([1.0, 2.0])
    shared, copied = torch.asarray(a, requires_grad=True), torch.asarray(a, copy=True)
    a[0] = 7
    assert shared.tolist() == [7, 2] and shared.requires_grad and shared.is_leaf and copied.tolist() == [1, 2]
    assert torch.asarray([1.0], requires_grad=True).requires_grad
    x = leaf(1.0)
    assert torch.asarray(x) is x and torch.asarray(x, requires_grad=True) is x
    with pytest.raises(ValueError, match="copy=False"):
        torch.asarray([1.0], copy=False)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (None, RuntimeError),
        ({}, RuntimeError),
        ([1, None], RuntimeError),
        (["a"], ValueError),
        ([[1], [1, 2]], ValueError),
    ],
)
def test_what_is_no_numbers(data, error):
    with pytest.raises(error):
        torch.tensor(data)


def test_type_of_the_gradient():
    x = torch.ones(2, requires_grad=True)
    assert x.grad_dtype is torch.float32
    x.grad_dtype = torch.float64
    seen = []
    x.register_hook(lambda g: seen.append(g.dtype))
    (x * 2).sum().backward()
    assert x.grad.dtype is torch.float64 and seen == [torch.float64]
    assert torch.autograd.grad((x * 2).sum(), x)[0].dtype is torch.float64
    with pytest.raises(RuntimeError, match="wants torch.float64"):
        x.grad = torch.ones(2)
    with pytest.raises(RuntimeError, match="a .grad of torch.float64 already"):
        x.grad_dtype = torch.float16
    x.grad = None
    x.grad_dtype = None  # whatever comes
    x.backward(torch.ones(2, dtype=torch.float64))
    assert x.grad_dtype is None and x.grad.dtype is torch.float64
    x.grad = torch.ones(2, dtype=torch.float16)
    with pytest.raises(RuntimeError, match="a dtype or None"):
        x.grad_dtype = "float32"
    y = x * 2
    with pytest.raises(RuntimeError, match="leaves only"):
        y.grad_dtype = torch.float64


def test_data_must_be_able_to_carry_the_gradient():
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match="data of torch.int64"):
        x.data = torch.tensor([1])
    x.data = torch.ones(3)
    assert x.shape == (3,) and x.dtype is torch.float32 and x.requires_grad


def test_copies_share_memory_among_each_other():
    x = torch.zeros(2, 3)
    for copied, view in (copy.deepcopy((x, x[:, 1])), pickle.loads(pickle.dumps((x, x[:, 1])))):
        copied[0, 1] = 5
        assert view.tolist() == [5, 0] and x.sum() == 0
    t = copy.deepcopy(x.t()[1:])
    assert t.stride() == (1, 3) and t.shape == (2, 2) and not t._is_view()
    assert copy.deepcopy(torch.zeros(2, 2, 2).permute(1, 2, 0)).stride() == (2, 1, 4)
    assert copy.deepcopy(x.t().clone()).stride() == (1, 3)


def test_copies_keep_what_users_set():
    x = leaf(1.0)
    x.note = ["kept"]
    deep, shallow, read = copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x))
    assert deep.note == read.note == ["kept"] and deep.note is not x.note and shallow.note is x.note
    assert not hasattr(x.detach(), "note") and not hasattr(x * 1, "note")
    p = torch.nn.Parameter(torch.ones(2))
    for twin in (copy.deepcopy(p), copy.copy(p), pickle.loads(pickle.dumps(p))):
        assert type(twin) is torch.nn.Parameter and twin.requires_grad
    assert repr(p) == "Parameter containing:\ntensor([1., 1.], requires_grad=True)"


def test_numbers_in_text():
    x = torch.tensor(2.5)
    assert f"{x}" == "2.5" and f"{x:.3f}" == "2.500" and f"{torch.ones(2)}" == "tensor([1., 1.])"
    with pytest.raises(TypeError):
        f"{torch.ones(2):.2f}"
    with pytest.raises(RuntimeError, match="is complex"):
        float(torch.tensor(1j))
    assert complex(torch.tensor(1 + 2j)) == 1 + 2j and repr(torch.tensor([1 + 2j])) == "tensor([1.+2.j])"


def test_clones_of_tensors_whose_elements_share_memory():
    x = torch.arange(4.0).reshape(2, 2)
    assert x.expand(2, 2, 2).clone().stride() == (4, 2, 1) and x.t().clone().stride() == (1, 2)
    assert x.t().clone(memory_format=torch.contiguous_format).stride() == (2, 1)


def test_data_of_another_type():
    x = torch.ones(2)
    x.data = torch.ones(2, dtype=torch.float64)
    for y in (x * 2, 2 - x, x.sin(), x * x, x + torch.ones(2)):
        assert y.dtype is torch.float64
    x.data = torch.ones(3, dtype=torch.int64)
    assert (x * 2).dtype is torch.int64 and (-x).dtype is torch.int64


@pytest.mark.parametrize(
    ("action", "error"),
    [
        (lambda: torch.ones(-1), RuntimeError),
        (lambda: torch.arange(5, 1), RuntimeError),
        (lambda: torch.arange(1, 5, 0), RuntimeError),
        (lambda: torch.tensor("a"), TypeError),
        (lambda: torch.tensor(["a"]), ValueError),
        (lambda: torch.tensor([300], dtype=torch.uint8), RuntimeError),
        (lambda: torch.full((1,), 300, dtype=torch.uint8), RuntimeError),
        (lambda: torch.ones(1).new_full((1,), 300, dtype=torch.int8), RuntimeError),
        (lambda: torch.ones(1).requires_grad_(0), TypeError),
        (lambda: [1.0] in torch.ones(1), RuntimeError),
        (lambda: (leaf(1.0) * 2).grad_dtype, RuntimeError),
        (lambda: torch.stack([torch.ones(1), 2.0]), TypeError),
        (lambda: torch.cat([torch.ones(1), 2.0]), TypeError),
        (lambda: torch.cat([]), ValueError),
        (lambda: float(torch.tensor(1 + 2j)), RuntimeError),
        (lambda: torch.ones(2).renorm(2, 0, 1.0), RuntimeError),
        (lambda: torch.ones(2, dtype=torch.int64).frac(), NotImplementedError),
        (lambda: torch.ones(2, dtype=torch.complex64).nan_to_num(), RuntimeError),
        (lambda: torch.ones(2, dtype=torch.complex64).nansum(), RuntimeError),
        (lambda: torch.ones(2, dtype=torch.complex64).unique(), NotImplementedError),
        (lambda: torch.tensor([True]) // True, NotImplementedError),
        (lambda: torch.tensor([True]) % torch.tensor(True), NotImplementedError),
        (lambda: torch.ones(2) & torch.ones(2), NotImplementedError),
        (lambda: torch.ones(2).sum((0, 0)), RuntimeError),
        (lambda: torch.ones(0).max(0), IndexError),
        (lambda: torch.ones(0).argmax(), IndexError),
        (lambda: torch.ones(0).kthvalue(1), IndexError),
        (lambda: torch.ones(0).mode(), IndexError),
    ],
)
def test_classes_of_errors(action, error):
    with pytest.raises(RuntimeError if error is NotImplementedError else error) as caught:
        action()
    assert type(caught.value) is error


def test_integers_wrap_as_the_elements_do():
    x = torch.tensor([1, 2], dtype=torch.uint8)
    assert (300 - x).tolist() == [43, 42] and (x + 300).tolist() == [45, 46] and (x * -1).tolist() == [255, 254]
    assert (x - 300).dtype is torch.uint8
    assert (x == 257).tolist() == [True, False] and (x < 300).tolist() == [True, True]
    assert (x / 300).tolist() == pytest.approx([1 / 300, 2 / 300]) and (x & 257).tolist() == [1, 0]
    assert x.add_(300).tolist() == [45, 46]
    with pytest.raises(RuntimeError, match="overflow"):
        x.fill_(300)
    with pytest.raises(RuntimeError, match="overflow"):
        x[0] = -1


def test_a_view_without_recording_shows_that_it_requires_grad():
    x = leaf(1.0, 2.0)
    with torch.no_grad():
        assert repr(x[0]) == "tensor(1., dtype=torch.float64, requires_grad=True)"


def test_small_things_of_tensors():
    x = leaf(1.0, 2.0)
    assert torch.detach(x).tolist() == [1, 2] and not torch.detach(x).requires_grad
    assert reversed(x).tolist() == [2, 1] and reversed(x).grad_fn.name() == "FlipBackward0"
    assert float(torch.tensor(1 + 0j)) == 1
    assert x.ravel() is not x and x.ravel()._base is x
    assert (2**x).grad_fn.name() == "PowBackward2" and x.frac().grad_fn.name() == "FracBackward0"
    assert torch.ones(2, dtype=torch.uint8).any().dtype is torch.uint8
    assert x.sum([]).shape == () and x.sum(()).item() == 3
    assert torch.cov(x.unsqueeze(0)).shape == ()


def test_each_nan_is_different():
    values, counts = torch.tensor([float("nan"), 1.0, float("nan"), 1.0]).unique(return_counts=True)
    assert values[0].item() == 1 and values.isnan().tolist() == [False, True, True] and counts.tolist() == [2, 1, 1]


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int64, torch.bfloat16, torch.float32])
def test_modes_of_all_types(dtype):
    values, places = torch.tensor([1, 0, 1, 0, 1]).to(dtype).mode()
    assert values.dtype is dtype and values.item() == 1 and int(places) == 4
    assert torch.asarray(places.numpy()).tolist() == 4


def test_parts_of_complex_tensors_can_be_set():
    z = torch.zeros(2, dtype=torch.complex128)
    x = leaf(1.0, 2.0)
    z.real = x
    z.imag = 3.0
    assert z.tolist() == [1 + 3j, 2 + 3j] and z.grad_fn.name() == "torch::autograd::CopySlices"
    (g,) = torch.autograd.grad((z.real * z.real).sum(), x)
    assert g.tolist() == [2, 4]


def test_versions_go_on_when_data_is_set():
    x = torch.ones(2)
    x.add_(1)
    x.data = torch.zeros(3)
    assert x._version == 1
    x.add_(1)
    assert x._version == 2


def test_memory_of_another():
    x, y = torch.ones(2), torch.zeros(3)
    view = x[:1]
    assert x.set_(y) is x
    y.add_(1)
    assert x.tolist() == [1, 1, 1] and view.tolist() == [1] and x._version == 1 and x._base is None
    assert x.set_().shape == (0,)
    w = leaf(1.0, 2.0)
    square = w * w
    with torch.no_grad():
        w.set_(torch.full((2,), 5.0, dtype=torch.float64))
    assert w.tolist() == [5, 5] and w.requires_grad
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        square.sum().backward()
    for refused, error in (
        (lambda: w.set_(torch.ones(2, dtype=torch.float64)), RuntimeError),
        (lambda: (w * 1).set_(torch.ones(2, dtype=torch.float64)), RuntimeError),
        (lambda: torch.ones(2, dtype=torch.float64).set_(w), RuntimeError),
        (lambda: torch.ones(2).set_(torch.ones(2, dtype=torch.float64)), RuntimeError),
        (lambda: torch.ones(2).set_(3), TypeError),
    ):
        with pytest.raises(error):
            refused()


def test_results_are_not_written_into_inference_tensors():
    with torch.inference_mode():
        a = torch.ones(2)
    with pytest.raises(RuntimeError, match="InferenceMode"):
        torch.exp(torch.ones(2), out=a)
