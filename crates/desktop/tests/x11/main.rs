//! This machine's desktop on displays of its own, with other programs as witnesses.

// Where each acceptance case of the desktop is shown, here and in other crates:
//
//  1 `remote` the_commands_of_the_seed_are_answered_byte_for_byte, `remote::command::tests`
//  2 `remote` the_first_frame_is_the_handshake_and_the_connection_comes_back_after_a_loss,
//    greetings_get_no_answer_and_what_follows_does
//  3 `remote` only_a_text_is_an_id, commands_without_an_id_are_answered_in_their_order
//  4 `remote` wrong_types_are_refused_in_the_words_of_the_reference, nothing_that_is_sent_does_harm,
//    `edge` nothing_a_device_says_does_harm
//  5 `remote::coerce::tests`, `tools` every_row_of_the_table_holds_for_a_tool_call,
//    `edge` bad_commands_are_refused_in_the_words_of_a_device_and_nothing_is_sent
//  6 `remote` the_example_of_the_seed_is_sent_as_numbers,
//    `edge` a_client_that_knows_nothing_of_us_is_driven_in_its_own_words
//  7 `remote` neither_the_command_nor_its_id_can_be_smuggled_in,
//    `edge` commands_are_numbered_over_all_devices_and_answered_by_their_ids
//  8 `edge` a_silent_device_is_waited_for_half_a_minute_and_a_late_answer_reaches_nobody
//  9 `edge` a_device_that_dies_fails_its_own_calls_alone,
//    the_newest_connection_of_a_name_wins_and_the_old_one_is_sent_away
// 10 `host` a_device_and_its_hub_survive_the_death_of_the_other,
//    `remote` a_command_that_is_sent_again_is_not_done_again
// 11 `edge` each_key_opens_its_own_door_and_no_other, `host` as 10
// 12 `edge` a_client_that_knows_nothing_of_us_is_driven_in_its_own_words,
//    a_client_of_the_original_works_as_it_is (both played after the reference)
// 13 `edge` a_device_of_ours_is_driven_from_its_key_to_its_forgetting
// 14 `pointer` the_pointer_goes_where_it_is_told_and_nowhere_else
// 15 `pointer` a_slow_move_passes_between_and_takes_its_time: no sooner than asked, in at most 120
//    motions a second, which bounds what it costs; how late it may be is for the measurements
// 16 `remote` a_ping_is_answered_while_the_pointer_is_on_its_way_and_what_follows_waits_for_it,
//    a_look_is_answered_while_the_pointer_is_on_its_way
// 17 `pointer` what_is_cancelled_stops_at_once_and_the_next_goes_on (250 seconds cut short),
//    `remote` a_cancelled_move_is_over_at_once_and_the_rest_goes_on_or_does_not
// 18 `pointer` clicks_and_turns_of_the_wheel_arrive_as_they_were_meant
// 19 `typing` every_character_arrives_on_an_american_keyboard and its like for de, fr and us,ru
// 20 `typing` ends_of_lines_are_one_key_and_a_layout_may_change_between_texts,
//    what_cannot_be_typed_whole_is_not_begun
// 21 `typing` text_of_any_script_arrives_and_the_clipboard_is_as_before, and as 19,
//    a_terminal_that_takes_no_paste_gets_every_character_by_lent_keys
// 22 `typing` as 20, every_printable_character_arrives_on_an_american_keyboard
// 23 `person` one_who_is_killed_while_typing_is_put_right_by_their_guard_without_another_start,
//    `host` a_server_that_is_killed_while_a_key_is_down_leaves_none_down
// 24 `typing` whoever_keeps_what_was_on_the_clipboard_is_not_taken_for_the_window_in_focus
// 25 `names` every_name_of_a_key_in_any_case_presses_that_key and what follows, `kernel::desktop::key`
// 26 `keys` combinations_are_pressed_in_order_and_released_in_reverse
// 27 `pointer` several_clicks_carry_what_is_held_and_end_with_nothing_held,
//    two_clicks_select_a_word_and_three_a_line_in_a_terminal,
//    a_drag_presses_at_its_beginning_and_lets_go_at_its_end, a_button_stays_down_until_it_is_let_go
// 28 `seeing` a_picture_shows_the_pixels_of_the_part_that_was_asked_for
// 29 `kernel` a_point_of_a_picture_is_found_again_by_way_of_the_screen,
//    `seeing` a_click_on_a_point_of_a_picture_arrives_at_the_pixel_that_it_shows
// 30 `seeing` a_target_in_a_smaller_picture_is_hit_on_the_screen,
//    `typing` a_picture_that_follows_what_was_typed_shows_it,
//    `tools` a_small_target_in_a_scaled_picture_is_hit,
//    whoever_asks_for_it_is_shown_what_came_of_it
// 31 `seeing` a_point_between_two_displays_is_on_none
// 32 `seeing` windows_are_listed_focused_moved_and_closed, and with a manager `managed`
// 33 `pointer` a_batch_ends_where_something_fails
// 34 `kernel` never_armed_expired_and_not_granted_are_three_refusals,
//    `tools` nothing_is_driven_before_the_person_lets_it_and_everything_is_on_record
// 35 `person` a_person_who_moves_the_pointer_stops_us_until_they_hand_back,
//    the_corner_and_the_chord_stop_us_too_but_not_what_we_do_ourselves,
//    a_person_who_presses_a_key_stops_what_is_typed_and_the_chord_stops_a_batch; what would press
//    the chords is refused in `keys`; `grace` a_hand_that_lets_go_is_forgiven_a_little_and_no_more
// 36 `kernel` whoever_is_asked_about_cannot_answer_on_the_screen_that_may_show_the_question
// 37 `kernel` too_much_at_once_is_refused_and_the_rest_takes_its_time,
//    `remote` a_thousand_at_once_are_bounded_and_paced
// 38 `kernel` a_secret_is_told_to_the_device_and_nobody_else,
//    what_was_done_is_on_record_and_known_after_a_restart,
//    `remote` a_secret_that_a_device_repeats_goes_no_further
// 39 `lacking`, `pointer` without_a_display_the_answer_says_so,
//    `host` what_cannot_be_driven_or_reached_is_said_in_one_line
// 40 this_machine_is_a_desktop_like_any_other below, `testkit` it_is_a_desktop,
//    `edge` a_device_that_is_connected_is_a_desktop_like_any_other,
//    several_devices_must_be_told_apart
// 41 `edge` a_hub_that_was_killed_knows_its_keys_and_has_disarmed_everything, `host`
//    a_command_that_was_under_way_when_its_hub_died_is_said_to_be_interrupted_and_not_repeated

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "all of it is a test")]

mod at_once;
mod collector;
mod grace;
mod keys;
mod lacking;
mod lamp;
mod managed;
mod manager;
mod names;
mod person;
mod pointer;
mod refused;
mod seeing;
mod spared;
mod stage;
mod typing;
mod witness;

#[tokio::test]
async fn this_machine_is_a_desktop_like_any_other() {
    let stage = stage::Stage::set();
    let _terminal = stage.terminal().await;
    testkit::contract::desktop(&stage.local).await;
}
