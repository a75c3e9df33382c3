//! Plans, and the tasks that become of them.

use kernel::tasks::Task;
use serde_json::{Value, json};

use super::*;
use crate::agents::tests::Home;

fn plan(statuses: [&str; 2]) -> Value {
    let [first, second] = statuses;
    json!({ "title": " Tidy up ", "steps": [
        { "text": "look", "status": first }, { "text": "sort", "status": second },
    ] })
}

#[tokio::test]
async fn a_plan_becomes_a_task_that_moves_and_ends() {
    let home = Home::new([]).await;
    let task = || home.host.roster.get(home.session).unwrap().task.clone();
    let said = home.text("plan", plan(["active", "pending"])).await;
    assert_eq!(said.as_deref(), Ok("The person sees the plan; 2 of 2 steps are left."));
    let first = task().unwrap();
    let step = |text: &str, progress| Step { text: text.to_owned(), progress };
    let steps = vec![step("look", Progress::Active), step("sort", Progress::Pending)];
    let (title, visibility) = ("Tidy up".to_owned(), Visibility::Auto);
    assert_eq!(first, Task { id: first.id, title, steps, reached: 0, visibility });
    home.text("plan", plan(["done", "active"])).await.unwrap();
    let second = task().unwrap();
    assert_eq!((second.id, second.steps[1].progress), (first.id, Progress::Active));
    let said = home.text("plan", plan(["done", "skipped"])).await;
    assert_eq!(said.as_deref(), Ok("The person sees the plan; 0 of 2 steps are left."));
    assert_eq!(task(), None);
}

#[tokio::test]
async fn a_plan_stays_as_visible_as_it_was_said_to_be() {
    let home = Home::new([]).await;
    let visibility =
        || home.host.roster.get(home.session).unwrap().task.clone().unwrap().visibility;
    let mut hidden = plan(["active", "pending"]);
    hidden["visibility"] = json!("hide");
    home.text("plan", hidden).await.unwrap();
    assert_eq!(visibility(), Visibility::Hide);
    home.text("plan", plan(["done", "active"])).await.unwrap();
    assert_eq!(visibility(), Visibility::Hide);
    let mut shown = plan(["done", "active"]);
    shown["visibility"] = json!("show");
    home.text("plan", shown).await.unwrap();
    assert_eq!(visibility(), Visibility::Show);
}

#[tokio::test]
async fn what_is_no_plan_is_explained() {
    let home = Home::new([]).await;
    let step = |text: &str| json!({ "text": text, "status": "pending" });
    let many: Vec<Value> = (0..51).map(|_| step("x")).collect();
    for (args, problem) in [
        (json!({ "title": "", "steps": [step("x")] }), "the title is empty"),
        (json!({ "title": "t", "steps": [] }), "a plan has 1 to 50 steps, not 0"),
        (json!({ "title": "t", "steps": many }), "a plan has 1 to 50 steps, not 51"),
        (json!({ "title": "t", "steps": [step("x"), step(" ")] }), "the text of step 2 is empty"),
        (
            json!({ "title": "x".repeat(201), "steps": [step("x")] }),
            "the title is longer than 200 characters",
        ),
    ] {
        assert_eq!(home.text("plan", args).await, Err(problem.to_owned()));
    }
    assert_eq!(home.host.roster.get(home.session).unwrap().task, None);
}
