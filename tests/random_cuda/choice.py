"""Random choices that are the same on every machine and in every version of Python."""

MASK64 = (1 << 64) - 1


class Choice:
    """A splitmix64 generator."""

    def __init__(self, seed):
        self.state = seed & MASK64

    def word(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK64
        x = self.state
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK64
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK64
        return x ^ (x >> 31)

    def below(self, bound):
        return self.word() % bound

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def percent(self, chance):
        return self.below(100) < chance

    def of(self, options):
        return options[self.below(len(options))]

    def weighted(self, options):
        """One of (weight, option) pairs."""
        at = self.below(sum(weight for weight, _ in options))
        for weight, option in options:
            if at < weight:
                return option
            at -= weight
        raise AssertionError("weights are positive")
