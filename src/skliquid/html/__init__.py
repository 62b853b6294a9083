"""What browsers and notebooks show: small pictures, and the replay of a training."""
