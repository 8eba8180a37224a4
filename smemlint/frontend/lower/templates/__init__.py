"""Templates: parameters and their defaults, arguments put in, variable templates."""
