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

# the site, into site/: `pip install --group docs` first
site:
    mkdocs build --strict

# against wavefronts measured on an H100: `just bench FOLDER-WITH-SOURCES`
bench FOLDER:
    python benchmarks/silicon.py {{FOLDER}}

# damaged sources through the installed command: `just fuzz 20000 7`
fuzz COUNT="500" SEED="0":
    python benchmarks/fuzz.py --count {{COUNT}} --seed {{SEED}} -j 2

# how the work of the parent process grows with what a project holds
growth:
    python benchmarks/growth.py

# the command killed at random moments of --fix: `just kills 300 1`
kills COUNT="300" SEED="1":
    python benchmarks/kills.py --count {{COUNT}} --seed {{SEED}}
