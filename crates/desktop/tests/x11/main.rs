//! This machine's desktop on displays of its own, with other programs as witnesses.

// Where each acceptance case of the desktop is shown, here and elsewhere:

// 1 `remote` the_commands_of_the_seed_are_answered_byte_for_byte; 2 greetings_get_no_answer_and_what_follows_does;
// 3 only_a_text_is_an_id, commands_without_an_id_are_answered_in_their_order; 4 `remote::command::tests`,
// nothing_that_is_sent_does_harm, `edge` nothing_a_device_says_does_harm;
// 5 `remote::coerce::tests`, `edge` bad_commands_are_refused_in_the_words_of_a_device_and_nothing_is_sent, `tools`
// arguments_are_read_as_the_hub_reads_them_and_changes_are_told; 6 the_example_of_the_seed_is_sent_as_numbers;
// 7 neither_the_command_nor_its_id_can_be_smuggled_in, `edge`
// commands_are_numbered_over_all_devices_and_answered_by_their_ids;
// 8 a_silent_device_is_waited_for_half_a_minute_and_a_late_answer_reaches_nobody;
// 9 a_device_that_dies_fails_its_own_calls_alone, the_newest_connection_of_a_name_wins_and_the_old_one_is_sent_away;
// 10 `host` a_device_and_its_hub_survive_the_death_of_the_other, `remote` a_command_that_is_sent_again_is_not_done_again;
// 11 `edge` each_key_opens_its_own_door_and_no_other, `host` as 10; 12 a_client_of_the_original_works_as_it_is (played, the
// original itself is not run); 13 `edge` a_device_of_ours_is_driven_from_its_key_to_its_forgetting;
// 14 pointer::the_pointer_goes_where_it_is_told_and_nowhere_else; 15 a_slow_move_passes_between_and_takes_its_time;
// 16 `remote` a_look_is_answered_while_the_pointer_is_on_its_way; 17 what_is_cancelled_stops_at_once_and_the_next_goes_on;
// 18 clicks_and_turns_of_the_wheel_arrive_as_they_were_meant; 19, 20, 21, 22, 24 `typing`; 23 `person`
// one_who_is_killed_while_typing_is_put_right_by_their_guard_without_another_start; 25, 26 `keys`, `kernel::desktop::key`;
// 27 several_clicks_carry_what_is_held_and_end_with_nothing_held, a_drag_presses_at_its_beginning_and_lets_go_at_its_end,
// two_clicks_select_a_word_and_three_a_line_in_a_terminal; 28, 30, 31 `seeing`; 29 `kernel`
// a_point_of_a_picture_is_found_again_by_way_of_the_screen; 30 also `tools` points_are_those_of_the_picture_that_was_shown,
// whoever_asks_for_it_is_shown_what_came_of_it; 32 windows_are_listed_focused_moved_and_closed (without a manager of windows;
// with one it is not shown); 33 a_batch_ends_where_something_fails;
// 34 `kernel` never_armed_expired_and_not_granted_are_three_refusals,
// when_its_time_is_over_a_device_lets_go_and_shows_it_and_it_is_on_record; 35 `person`, combinations that are reserved `keys`;
// 36 `kernel` whoever_is_asked_about_cannot_answer_on_the_screen_that_may_show_the_question;
// 37 too_much_at_once_is_refused_and_the_rest_takes_its_time, `remote` a_thousand_at_once_are_bounded_and_paced;
// 38 `kernel` a_secret_is_told_to_the_device_and_nobody_else, `remote` a_secret_that_a_device_repeats_goes_no_further;
// 39 `lacking`, pointer::without_a_display_the_answer_says_so; 40 `edge` several_devices_must_be_told_apart, `kernel`
// a_device_that_is_taken_over_is_left_alone_and_others_are_not; 41 `edge`
// a_hub_that_was_killed_knows_its_keys_and_has_disarmed_everything.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "all of it is a test")]

mod collector;
mod keys;
mod lacking;
mod lamp;
mod managed;
mod manager;
mod person;
mod pointer;
mod seeing;
mod spared;
mod stage;
mod typing;
mod witness;
