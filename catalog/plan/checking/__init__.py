"""The condition of a webhook's CHECK, compiled once and run for each request.

It runs in the process that takes the request: values are Python's, nothing is interpreted, and
no function reaches outside. Types are checked when the webhook is made.
"""

from catalog.plan.checking.compile import Compiled, Unfit, compile_check

__all__ = ["Compiled", "Unfit", "compile_check"]
