//! The house's own guest, who also shows the fixtures that no tool of the toolbox could be.
#![expect(deprecated, reason = "the suite also speaks older versions")]

use std::sync::Arc;

use mcp::server::{Guest, House};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities,
        CompleteRequestParams, CompleteResult, ContentBlock, GetPromptRequestParams,
        GetPromptResponse, GetPromptResult, InitializeRequestParams, InitializeResult, JsonObject,
        ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        LoggingLevel, LoggingMessageNotificationParam, PaginatedRequestParams,
        ProgressNotificationParam, Prompt, PromptArgument, ReadResourceRequestParams,
        ReadResourceResponse, ServerConfig, SetLevelRequestParams, SubscribeRequestParams,
        SubscriptionFilter, Tool, UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::{Value, json};

use crate::contents;

const TOOLS: &[&str] = &[
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_tool_with_logging",
    "test_logging_tool",
    "test_tool_with_progress",
    "test_missing_capability",
    "test_streaming_elicitation",
];
/// The one whose argument is also told in a header.
const HEADED: &str = "test_header_tool";
const WATCHED: &str = "test://watched-resource";

pub struct Exhibit(Guest);

impl Exhibit {
    pub fn new(house: Arc<House>) -> Self {
        Self(Guest::new(house))
    }

    fn tools() -> Vec<Tool> {
        let tool = |name: &&'static str| Tool::new(*name, "A fixture.", object(json!({})));
        let region = json!({ "region": { "type": "string", "x-mcp-header": "Region" } });
        let headed = Tool::new(HEADED, "A fixture.", object(region));
        TOOLS.iter().map(tool).chain([headed]).collect()
    }

    async fn show(
        name: &str,
        context: &RequestContext<RoleServer>,
    ) -> Option<Result<CallToolResult, ErrorData>> {
        let done = |text: &str| CallToolResult::success(vec![ContentBlock::text(text)]);
        Some(Ok(match name {
            "test_tool_with_logging" | "test_logging_tool" => {
                // Later versions say with each request whether they want this.
                let asked = context.meta.log_level().is_some();
                let legacy = context.meta.protocol_version().is_none();
                let steps = ["execution started", "processing data", "execution completed"];
                for text in steps.into_iter().filter(|_| asked || legacy) {
                    let text = Value::from(format!("Tool {text}"));
                    let said = LoggingMessageNotificationParam::new(LoggingLevel::Info, text);
                    context.peer.notify_logging_message(said).await.unwrap();
                }
                done("done")
            }
            "test_tool_with_progress" => {
                let token = context.meta.get_progress_token();
                for (token, done) in
                    token.iter().flat_map(|token| [0.0, 50.0, 100.0].map(|done| (token, done)))
                {
                    let said = ProgressNotificationParam::new(token.clone(), done);
                    context.peer.notify_progress(said.with_total(100.0)).await.unwrap();
                }
                done("done")
            }
            "test_missing_capability" => {
                let declared = context.client_capabilities();
                if declared.is_none_or(|declared| declared.sampling.is_none()) {
                    let needed = ClientCapabilities::builder().enable_sampling().build();
                    return Some(Err(ErrorData::missing_required_client_capability(needed)));
                }
                done("done")
            }
            "test_streaming_elicitation" | HEADED => done("done"),
            _ => CallToolResult::success(contents::content(name)?),
        }))
    }
}

fn object(properties: Value) -> JsonObject {
    JsonObject::from_iter([
        ("type".to_owned(), "object".into()),
        ("properties".to_owned(), properties),
    ])
}

fn prompts() -> Vec<Prompt> {
    let prompt = |name: &str, arguments: &[&str]| {
        let argument = |name: &&str| PromptArgument::new(*name).with_required(true);
        let arguments = arguments.iter().map(argument).collect();
        Prompt::new(name, Some("A fixture."), Some(arguments))
    };
    vec![
        prompt("test_simple_prompt", &[]),
        prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
        prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
        prompt("test_prompt_with_image", &[]),
    ]
}

type Context = RequestContext<RoleServer>;

impl ServerHandler for Exhibit {
    fn get_info(&self) -> ServerConfig {
        self.0.get_info()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: Context,
    ) -> Result<InitializeResult, ErrorData> {
        self.0.initialize(request, context).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.0.on_initialized(context).await;
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut listed = self.0.list_tools(request, context).await?;
        listed.tools.extend(Self::tools());
        Ok(listed)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        Self::tools().into_iter().find(|tool| tool.name == name).or_else(|| self.0.get_tool(name))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        match Self::show(&request.name, &context).await {
            Some(shown) => Ok(shown?.into()),
            None => Box::pin(self.0.call_tool(request, context)).await,
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut listed = self.0.list_resources(request, context).await?;
        listed.resources.extend(contents::resources());
        Ok(listed)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut listed = self.0.list_resource_templates(request, context).await?;
        listed.resource_templates.push(contents::template());
        Ok(listed)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match contents::read(&request.uri) {
            Some(read) => Ok(read.into()),
            None => self.0.read_resource(request, context).await,
        }
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        if request.uri == WATCHED {
            return Ok(());
        }
        self.0.subscribe(request, context).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        self.0.unsubscribe(request, context).await
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.0.accepted_subscription_filter(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.0.listen(context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut listed = self.0.list_prompts(request, context).await?;
        listed.prompts.extend(prompts());
        Ok(listed)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let given = request.arguments.clone().unwrap_or_default();
        let given =
            |name: &str| given.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        match contents::messages(&request.name, given) {
            Some(messages) => Ok(GetPromptResult::new(messages).into()),
            None => self.0.get_prompt(request, context).await,
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        self.0.complete(request, context).await
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        self.0.set_level(request, context).await
    }
}
