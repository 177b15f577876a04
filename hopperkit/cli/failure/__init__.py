"""Commands on what fails: outputs of jobs, builds, nodes before a start."""
