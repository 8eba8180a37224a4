# The tasks of this repository; `just` lists them.
_:
    @just --list

# all checks, in a fresh environment, as the build server runs them
check:
    .ci/run

test *ARGS:
    python -m pytest {{ARGS}}

# random kernels against a thread-by-thread interpreter: `just oracle 1000 7 --check cxx`
oracle N SEED *ARGS:
    PYTHONPATH=tests python -m oracle {{N}} {{SEED}} {{ARGS}}

format:
    ruff format .
    ruff check --fix .

# docs/rules.md from the rules' docstrings
docs:
    python -m smemlint.render.rules_page > docs/rules.md

# against wavefronts measured on an H100: `just bench FOLDER-WITH-SOURCES`
bench FOLDER:
    python benchmarks/silicon.py {{FOLDER}}
