"""The lowering is put together of parts, none of which may hide what another one defines."""

from s2sgrad.transform.frontend.lower import Lowering


def test_no_method_is_defined_in_two_parts():
    home: dict = {}
    for part in Lowering.__mro__[1:-1]:
        for name in vars(part):
            if not name.startswith("__"):
                assert name not in home, f"{name} is defined in {home[name]} and in {part.__name__}"
                home[name] = part.__name__
