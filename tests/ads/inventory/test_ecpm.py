from chalicelib.ads.bounds import MAX_BID_MICROS
from chalicelib.ads.inventory.campaigns import StoredPricing
from chalicelib.ads.inventory.ecpm import ClickCounts, ecpm_micros


def test_a_cpm_ad_is_worth_its_bid() -> None:
    assert ecpm_micros({"type": "cpm", "bid_micros": 250_000}) == 250_000


def test_a_new_cpc_ad_is_worth_a_click_in_200_impressions() -> None:
    assert ecpm_micros({"type": "cpc", "bid_micros": 50_000}) == 250_000


def test_one_lucky_click_moves_a_cpc_ad_little_and_many_move_it_to_their_rate() -> None:
    cpc: StoredPricing = {"type": "cpc", "bid_micros": 50_000}

    assert ecpm_micros(cpc, ClickCounts(1, 1)) == 497_512
    assert ecpm_micros(cpc, ClickCounts(1_000_000, 100_000)) == 4_999_050


def test_clicks_beyond_the_impressions_do_not_count() -> None:
    dearest: StoredPricing = {"type": "cpc", "bid_micros": MAX_BID_MICROS}

    assert ecpm_micros(dearest, ClickCounts(0, 10**6)) == ecpm_micros(dearest)
    assert ecpm_micros(dearest, ClickCounts(10, 10**6)) == ecpm_micros(dearest, ClickCounts(10, 10))


def test_an_ecpm_is_whole_micros() -> None:
    assert ecpm_micros({"type": "cpc", "bid_micros": 1}) == 5
    assert ecpm_micros({"type": "cpc", "bid_micros": 3}, ClickCounts(1, 0)) == 14
