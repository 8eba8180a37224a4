"""What the CUDA toolkit declares: its functions, as one table that the front end and the evaluator share."""
