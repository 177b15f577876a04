"""What an instructor and a class need besides the pages: sheets with answers, handouts, and the test of the workshop."""
