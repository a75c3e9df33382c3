//! Whose points are meant, and in whose numbers is answered.

use super::*;

#[tokio::test]
async fn points_are_those_of_the_picture_that_was_shown() {
    let home = Home::new().await;
    home.arm(&Class::ALL).await;
    let shown = home.call("screenshot", json!({})).await.unwrap();
    assert_eq!(shown.pictures[0].bytes, [1, 2, 3]);
    assert_eq!(shown.pictures[0].mime, "image/webp");
    let click = json!({ "action": "left_click", "coordinate": ["784", 441], "text": "ctrl" });
    let (clicked, _) = tokio::join!(home.said("computer", click), home.answer(ONCE));
    let text = r#"Clicked left button at (784, 441) {"screen":{"x":1569,"y":883}}"#;
    assert_eq!(clicked.as_deref(), Ok(text));
    let clicked = home.done().pop().unwrap();
    let Action::MouseClickAt { at, count: 1, .. } = clicked else { panic!("{clicked:?}") };
    assert_eq!(at, Some(Point { x: 1569, y: 883 }));
    let outside = home.said("mouse_move", point(1568, 0)).await.unwrap_err();
    let text = "Out of bounds error: Out of bounds at positions x,y :1568, 0";
    assert_eq!(outside, text);
    let position = home.said("get_mouse_position", json!({})).await;
    assert_eq!(position.as_deref(), Ok("The pointer is at (50, 100)."));
    let wrong = home.said("mouse_click", json!({ "button": "Left" })).await.unwrap_err();
    assert_eq!(wrong, "Invalid button: Left; expected one of: left, right, middle");
}

#[tokio::test]
async fn a_model_hears_its_own_numbers_and_where_that_is_on_the_screen() {
    let home = Home::new().await;
    home.arm(&Class::ALL).await;
    home.said("screenshot", json!({})).await.unwrap();
    let drag = json!({
        "action": "left_click_drag", "start_coordinate": [1, 2], "coordinate": [30, 40],
    });
    let batch = json!({ "action": "batch", "actions": [
        { "action": "left_click", "coordinate": [400, 300] }, { "action": "type", "text": "hi" },
    ] });
    for (name, args, text) in [
        (
            "computer",
            json!({ "action": "left_click", "coordinate": [400, 300] }),
            r#"Clicked left button at (400, 300) {"screen":{"x":801,"y":601}}"#,
        ),
        ("mouse_move", point(5, 6), r#"Moved mouse to (5, 6) {"screen":{"x":11,"y":13}}"#),
        (
            "mouse_move",
            json!({ "x": -5, "y": 6, "duration": 0 }),
            r#"Moved mouse to (0, 6) {"adjusted":{"x":{"from":-5,"to":0}},"screen":{"x":1,"y":13}}"#,
        ),
        (
            "computer",
            drag,
            r#"Dragged left button from (1, 2) to (30, 40) {"screen":{"x":61,"y":81}}"#,
        ),
        // Where the pointer is, which the device tells.
        (
            "computer",
            json!({ "action": "double_click" }),
            r#"Double-clicked left button at (50, 100) {"screen":{"x":101,"y":201}}"#,
        ),
        (
            "computer",
            batch,
            "Clicked left button at (400, 300) {\"screen\":{\"x\":801,\"y\":601}}\nTyped 2 characters",
        ),
        ("mouse_click", json!({ "button": "left" }), "Clicked left button"),
    ] {
        assert_eq!(home.said(name, args.clone()).await.as_deref(), Ok(text), "{args}");
    }
}

/// Case 30 of the protocol.
#[tokio::test]
async fn a_small_target_in_a_scaled_picture_is_hit() {
    let home = Home::new().await;
    home.arm(&Class::ALL).await;
    let hit = |home: &Home| match home.done().pop() {
        Some(Action::MouseClickAt { at: Some(at), .. }) => at,
        other => panic!("{other:?}"),
    };
    // Without a picture they are those of the screen.
    let click = |x: u32, y: u32| json!({ "action": "left_click", "coordinate": [x, y] });
    home.said("computer", click(2000, 1700)).await.unwrap();
    assert_eq!(hit(&home), Point { x: 2000, y: 1700 });
    home.said("screenshot", json!({})).await.unwrap();
    for (x, y) in [(0, 0), (3130, 1758), (1567, 881), (1001, 703)] {
        let target = Rect { x, y, w: 6, h: 6 };
        // The middle of it, as it is seen in a picture of half the size.
        let seen = |at: u32| at / 2;
        home.said("computer", click(seen(x + 3), seen(y + 3))).await.unwrap();
        let at = hit(&home);
        assert!(target.contains(at), "{at:?} is not in {target:?}");
    }
}

#[tokio::test]
async fn a_zoom_is_for_looking_and_any_picture_can_be_named() {
    let home = Home::new().await;
    home.arm(&Class::ALL).await;
    let zoom = json!({ "action": "zoom", "region": [100, 50, 200, 100] });
    let unseen = home.said("computer", zoom.clone()).await.unwrap();
    assert!(unseen.ends_with("It is shot_1. Points are still those of the screen."), "{unseen}");
    let shot = home.said("screenshot", json!({})).await.unwrap();
    let text = "The picture has 1568x882 pixels, and shows 3136x1764 of the screen from (0, 0). It \
                is shot_2. Points are those of this picture from now on.";
    assert_eq!(shot, text);
    let zoomed = home.call("computer", zoom).await.unwrap();
    let text = "The picture has 199x99 pixels, and shows 199x99 of the screen from (201, 101). It \
                is shot_3. Points are still those of shot_2.";
    assert_eq!((zoomed.text.as_str(), zoomed.pictures.len()), (text, 1));
    home.done();
    for (shot, to) in [
        (json!(null), Point { x: 21, y: 41 }),
        (json!("shot_2"), Point { x: 21, y: 41 }),
        (json!("shot_3"), Point { x: 211, y: 121 }),
        (json!("shot_1"), Point { x: 110, y: 70 }),
    ] {
        let args = json!({ "x": 10, "y": 20, "duration": 0, "shot": shot });
        home.said("mouse_move", args).await.unwrap();
        assert_eq!(home.done(), [Action::MouseMove { to, duration: 0.0 }], "{shot}");
    }
    let unknown = home.said("mouse_move", json!({ "x": 1, "y": 2, "shot": "shot_9" })).await;
    let error = "No picture is named shot_9; expected one of: shot_1, shot_2, shot_3";
    assert_eq!(unknown, Err(error.to_owned()));
    let by = json!({ "action": "mouse_move_by", "dx": -10, "dy": "4" });
    home.said("computer", by).await.unwrap();
    let by = Action::MouseMoveBy { dx: -20, dy: 8, duration: 0.0 };
    assert_eq!(home.done(), [by]);
}
