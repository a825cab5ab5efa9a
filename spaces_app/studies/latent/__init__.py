"""What editors that work in the latents of an autoencoder can retain at most."""
