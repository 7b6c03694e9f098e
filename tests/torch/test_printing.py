"""How tensors are printed."""

import pytest

import s2sgrad.torch as torch


@pytest.mark.parametrize(
    "tensor, text",
    [
        (torch.tensor(1.0), "tensor(1.)"),
        (torch.tensor([1, -20]), "tensor([  1, -20])"),
        (torch.tensor([True]), "tensor([True])"),
        (torch.tensor([True, False]), "tensor([ True, False])"),
        (torch.tensor([1.0, 2.5]), "tensor([1.0000, 2.5000])"),
        (torch.tensor([1.0, float("nan"), float("inf")]), "tensor([1., nan, inf])"),
        (torch.tensor([1e-8, 1.0]), "tensor([1.0000e-08, 1.0000e+00])"),
        (torch.tensor([[1.5, -2.0], [3.0, 4.0]]), "tensor([[ 1.5000, -2.0000],\n        [ 3.0000,  4.0000]])"),
        (torch.tensor(1 + 2j), "tensor(1.+2.j)"),
        (torch.tensor([1 + 2j, 0.5 - 1j]), "tensor([1.0000+2.j, 0.5000-1.j])"),
        (torch.zeros(0), "tensor([])"),
        (torch.zeros(2, 0), "tensor([], size=(2, 0))"),
        (torch.zeros(0, dtype=torch.int64), "tensor([], dtype=torch.int64)"),
        (torch.ones(2, dtype=torch.float16), "tensor([1., 1.], dtype=torch.float16)"),
        (torch.ones(1, requires_grad=True), "tensor([1.], requires_grad=True)"),
        (torch.ones(1, requires_grad=True) * 2, "tensor([2.], grad_fn=<MulBackward0>)"),
        (torch.ones(1, 1, 2), "tensor([[[1., 1.]]])"),
        (torch.arange(1001), "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
    ],
)
def test_the_text_of_tensors(tensor, text):
    assert repr(tensor) == str(tensor) == text


def test_long_lines_are_broken():
    lines = repr(torch.arange(30.0, requires_grad=True)).split("\n")
    assert lines[0].startswith("tensor([ 0.,  1.") and all(len(line) <= 80 for line in lines)
    assert lines[1].startswith("        ") and lines[-1].endswith("requires_grad=True)")


def test_parameters_say_so_and_numbers_are_formatted():
    assert repr(torch.nn.Parameter(torch.ones(1))) == "Parameter containing:\ntensor([1.], requires_grad=True)"
    assert f"{torch.tensor(1.5):.2f}" == "1.50" and f"{torch.ones(1)}" == "tensor([1.])"


def test_the_old_names_of_types():
    t = torch.ones(1)
    assert t.type() == "torch.FloatTensor" and t.type("torch.DoubleTensor").dtype is torch.float64
    assert torch.tensor([1]).type() == "torch.LongTensor" and t.cpu().get_device() == -1
