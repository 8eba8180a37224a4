"""What several commands have in common: options, one run over files, reports as text."""
