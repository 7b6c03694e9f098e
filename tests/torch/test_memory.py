"""The memory behind tensors: storages, strides of the user's choice, buffers, and the state of random numbers."""

import numpy as np
import pytest

import s2sgrad.torch as torch


def test_views_share_a_storage():
    x = torch.zeros(4, requires_grad=True)
    memory = x.untyped_storage()
    assert x[2:].view(1, 2).untyped_storage().data_ptr() == x.detach().untyped_storage().data_ptr() == memory.data_ptr()
    assert x.clone().untyped_storage().data_ptr() != memory.data_ptr()
    assert memory.nbytes() == memory.size() == len(memory) == 16
    assert (
        x.detach().is_set_to(x) and x.view(4).is_set_to(x) and not x[1:].is_set_to(x) and not x.view(2, 2).is_set_to(x)
    )
    assert not x.is_pinned() and not x.is_shared()


def test_strides_of_choice_are_those_of_the_gradient():
    x = torch.empty_strided((2, 3), (1, 2), dtype=torch.float64, requires_grad=True)
    with torch.no_grad():
        x.copy_(torch.arange(6.0).reshape(2, 3))
    (x * x).sum().backward()
    assert x.stride() == x.grad.stride() == (1, 2) and x.grad.tolist() == [[0, 2, 4], [6, 8, 10]]
    assert x.new_empty_strided((3, 0), (1, 1)).shape == (3, 0) and x.new_empty_strided((2,), (3,)).stride() == (3,)
    for size, stride in (((2, 3), (1,)), ((2,), (-1,))):
        with pytest.raises(RuntimeError, match="empty_strided"):
            torch.empty_strided(size, stride)


def test_buffers_are_shared_where_they_may_be_written():
    buffer = bytearray(np.arange(4.0).tobytes())
    x = torch.frombuffer(buffer, dtype=torch.float64, count=2, offset=8, requires_grad=True)
    with torch.no_grad():
        x.mul_(10)
    assert x.requires_grad and np.frombuffer(buffer).tolist() == [0, 10, 20, 3]
    assert torch.frombuffer(bytes(8), dtype=torch.float64).add_(1).tolist() == [1]
    with pytest.raises(ValueError, match="does not show its memory"):
        torch.frombuffer(3, dtype=torch.float64)


def test_exchange_with_other_libraries():
    x = torch.tensor([1.0, 2.0])
    np.from_dlpack(x)
    torch.from_dlpack(x).add_(1)
    assert x.tolist() == [2, 3] and x.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError):
        np.from_dlpack(x.requires_grad_())


def test_random_numbers_go_on_from_a_state():
    torch.manual_seed(3)
    assert torch.initial_seed() == 3
    torch.rand(2)
    state = torch.get_rng_state()
    a = torch.rand(3)
    torch.set_rng_state(state)
    assert torch.rand(3).tolist() == a.tolist() and state.dtype is torch.uint8
    own = torch.Generator()
    assert own.seed() == own.initial_seed()
    before = own.get_state()
    b = torch.rand(2, generator=own)
    own.set_state(before)
    assert torch.rand(2, generator=own).tolist() == b.tolist()
    counts = torch.binomial(torch.tensor([10.0, 0.0]), torch.tensor([1.0, 0.5]))
    assert counts.tolist() == [10, 0] and counts.dtype is torch.float32
    assert isinstance(torch.seed(), int)


def test_a_part_at_strides_is_replaced():
    x = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    src = torch.tensor([10.0, 20.0], requires_grad=True)
    y = torch.as_strided_scatter(x, src, (2,), (2,), 1)
    (y * y).sum().backward()
    assert y.tolist() == [1, 10, 3, 20]
    assert x.grad.tolist() == [2, 0, 6, 0] and src.grad.tolist() == [20, 40]


def test_systems_are_solved_by_factors():
    A = torch.tensor([[0.0, 2.0], [3.0, 4.0]], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([[1.0], [2.0]], dtype=torch.float64)
    x = torch.lu_solve(b, *A.lu())
    assert torch.allclose(A @ x, b)
    assert torch.autograd.gradcheck(lambda A: b.lu_solve(*torch.lu(A)), (A,))


def test_types_of_products_with_numbers():
    single, double = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor(3.0, dtype=torch.float64)
    assert torch.kron(single, double).dtype is torch.float64
    assert torch.inner(single, double).tolist() == torch.inner(double, single).tolist() == [3, 6]
    assert torch.inner(single, double).dtype is torch.float32
    assert torch.float_power(single.to(torch.complex64), 2).dtype is torch.complex128
    with pytest.raises(RuntimeError, match="complex"):
        single.masked_fill(single > 1, 1j)
