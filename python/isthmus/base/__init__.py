"""What all other packages use: errors, texts, options, files of this user."""
