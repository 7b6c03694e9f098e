"""Grad mode and inference mode: contexts, decorators, calls, threads."""

import asyncio
import threading

import pytest

import s2sgrad.torch as torch


def leaf(*values):
    return torch.tensor(list(values), dtype=torch.float64, requires_grad=True)


def test_contexts_nest_and_restore():
    x = leaf(2.0)
    with pytest.raises(KeyError), torch.no_grad():
        with torch.enable_grad():
            assert (x * x).requires_grad
        assert not (x * x).requires_grad and not torch.is_grad_enabled()
        raise KeyError
    assert torch.is_grad_enabled()


def test_decorators():
    @torch.no_grad()
    def called(n):
        return [torch.is_grad_enabled(), *(called(n - 1) if n else [])]

    @torch.no_grad
    def bare():
        return torch.is_grad_enabled()

    @torch.no_grad()
    def generator():
        received = yield torch.is_grad_enabled()
        yield received, torch.is_grad_enabled()

    @torch.no_grad()
    async def coroutine():
        return torch.is_grad_enabled()

    assert called(2) == [False] * 3 and not bare() and not asyncio.run(coroutine())
    g = generator()
    assert next(g) is False and torch.is_grad_enabled() and g.send("x") == ("x", False)
    assert torch.is_grad_enabled()


def test_set_grad_enabled():
    try:
        torch.set_grad_enabled(False)
        assert not torch.is_grad_enabled()
    finally:
        torch.set_grad_enabled(True)
    with torch.set_grad_enabled(False):
        assert not torch.is_grad_enabled()

    @torch.set_grad_enabled(False)
    def f():
        return torch.is_grad_enabled()

    assert torch.is_grad_enabled() and f() is False


def test_modes_belong_to_the_thread():
    seen = []
    with torch.no_grad():
        t = threading.Thread(target=lambda: seen.append((torch.is_grad_enabled(), (leaf(1.0) * 2).requires_grad)))
        t.start()
        t.join()
    assert seen == [(True, True)]


def test_inference_mode():
    x = leaf(1.0)
    with torch.inference_mode():
        y = x * 2
        assert torch.is_inference_mode_enabled() and not torch.is_grad_enabled()
        with torch.enable_grad():
            assert not (x * 2).requires_grad
        assert y.is_inference() and not x.is_inference() and not y.requires_grad
        x.add_(1)
    assert x.tolist() == [2] and x.requires_grad and torch.is_grad_enabled()
    with pytest.raises(RuntimeError, match="version counter"):
        y._version  # noqa: B018


def test_inference_tensors_outside():
    x = leaf(1.0, 2.0)
    with torch.inference_mode():
        i = torch.ones(2, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="cannot be saved for backward"):
        x * i
    assert (x + i).requires_grad and not i.clone().is_inference() and (x * i.clone()).requires_grad
    with pytest.raises(RuntimeError, match="outside InferenceMode"):
        i.add_(1)
    with pytest.raises(RuntimeError, match="inference"):
        i.requires_grad_()


def test_normal_tensors_inside():
    n = torch.tensor([1.0, 2.0])
    with torch.inference_mode():
        assert not n[:1].is_inference() and torch.is_inference(n * 2)
        n.add_(1)
        a = torch.ones(2, requires_grad=True)
        assert a.requires_grad and not (a * 2).requires_grad
    assert n._version == 1

    @torch.inference_mode()
    def f():
        return torch.is_inference_mode_enabled()

    assert f() and not torch.is_inference_mode_enabled()


def test_views_without_recording_stay_tracked():
    x = leaf(1.0, 2.0)
    with torch.no_grad():
        v = x[:1]
    assert v.requires_grad


def test_multithreading_switch_is_accepted():
    with torch.autograd.set_multithreading_enabled(False):
        (leaf(1.0) * 2).sum().backward()


def test_recording_cannot_be_switched_on_in_inference_mode():
    x = leaf(1.0)
    with torch.inference_mode():
        assert not torch.is_grad_enabled()
        with torch.enable_grad():
            assert torch.is_grad_enabled() and not (x * 2).requires_grad
        torch.set_grad_enabled(True)
        assert torch.is_grad_enabled() and not (x * 2).requires_grad and (x * 2).is_inference()
        with torch.inference_mode(False):
            assert torch.is_grad_enabled() and (x * 2).requires_grad
    assert torch.is_grad_enabled() and (x * 2).requires_grad


def test_set_grad_enabled_takes_a_bool():
    for bad in ("a", None, 1):
        with pytest.raises(TypeError, match="takes a bool"):
            torch.set_grad_enabled(bad)


def test_single_elements_stay_views_without_recording():
    x = leaf(1.0, 2.0)
    with torch.no_grad():
        assert x[0].requires_grad and x[0].is_leaf and not (x[0] * 1).requires_grad
    with torch.inference_mode():
        assert not x[0].is_inference() and (x[0] * 1).is_inference() and x[[0]].is_inference()
