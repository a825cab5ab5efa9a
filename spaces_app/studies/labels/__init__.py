"""What people who looked at the pictures answered."""
