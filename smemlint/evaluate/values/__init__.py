"""Numbers as the evaluator knows them: polynomials in unknowns with a coefficient for every thread."""
