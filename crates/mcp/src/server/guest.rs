//! One client of the house: what it asks for, and who in the house answers.
#![expect(deprecated, reason = "most clients of today know nothing newer")]

use std::sync::{Arc, OnceLock};

use kernel::update::SessionId;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
        GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams,
        InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
        ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
        ReadResourceResult, ServerCapabilities, ServerConfig, SetLevelRequestParams,
        SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::Value;
use tokio::sync::OnceCell;

use super::{
    completion, defined,
    errands::{self, Visit, showing},
    house::House,
    lent,
    pages::After,
    progress::Progress,
    prompts,
    remarks::Remarks,
    resources,
    shown::{self, Told},
    watching::{Ear, Watching},
};

const INSTRUCTIONS: &str = "\
A home for AI agents. Each session is a conversation with an agent that works in a folder: \
`ask_session` speaks to one and waits for the answer, `list_sessions` and the resources under \
megaron://sessions show what there is. The other tools are those of the agents themselves. What is \
risky waits until the person allows it, in the house and not through this connection.";

pub struct Guest {
    house: Arc<House>,
    /// What the client calls itself, if it stays connected.
    name: OnceLock<String>,
    /// Where it uses tools.
    room: OnceCell<SessionId>,
    watching: Watching,
    remarks: Remarks,
    /// Which windows it knows, if it stays connected.
    pub(super) told: Told,
}

impl Guest {
    pub fn new(house: Arc<House>) -> Self {
        Self {
            house,
            name: OnceLock::new(),
            room: OnceCell::new(),
            watching: Watching::default(),
            remarks: Remarks::default(),
            told: Told::default(),
        }
    }

    /// The session in which this client uses tools, made when it first does.
    pub async fn room(&self, context: &RequestContext<RoleServer>) -> Result<SessionId, String> {
        if let Some(name) = self.name.get() {
            return self.room.get_or_try_init(|| self.house.furnish(name)).await.copied();
        }
        let client = context.client_info().map(|client| client.name);
        self.house.room(&client.unwrap_or_default()).await
    }

    /// Tells the client of something it may want to know.
    pub async fn remark(&self, context: &RequestContext<RoleServer>, text: &str) {
        self.remarks.tell(context, self.name.get().is_some(), text).await;
    }

    /// Everything that can be called, each name once: our own come before those that are lent.
    fn tools(&self) -> Vec<Tool> {
        let mut tools = errands::tools();
        let lent = lent::tools(&self.house.host);
        let of_apps = shown::tools(&self.house).into_iter();
        let of_widgets = defined::tools(&self.house);
        for tool in lent.into_iter().chain(of_apps).chain(of_widgets) {
            if !tools.iter().any(|own| own.name == tool.name) {
                tools.push(tool);
            }
        }
        tools
    }
}

impl ServerHandler for Guest {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_prompts()
            .enable_completions()
            .enable_logging()
            .build();
        let implementation = Implementation::new("megaron", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities)
            .with_server_info(implementation.with_title("Megaron"))
            .with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        // Set once: a second handshake on one connection is refused before it comes here.
        self.name.set(request.client_info.name.clone()).ok();
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.watching.begin(&self.house, context.peer);
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.remarks.limit(request.level);
        Ok(())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let after = After::read(request.as_ref())?;
        if self.name.get().is_some() {
            self.told.note(&self.house);
        }
        let named = self.tools().into_iter().enumerate();
        let (page, next) = after.page(named.map(|(at, it)| (format!("{at:06}"), it)).collect());
        let mut result = ListToolsResult::with_all_items(page);
        result.next_cursor = next;
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        // Asked for only to compare headers with arguments, which lent tools have no say in.
        errands::tools().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let CallToolRequestParams { name, arguments, .. } = request;
        let progress = Progress::of(&context);
        let mut visit = Visit { house: &self.house, context: &context, progress };
        let args = Value::Object(arguments.clone().unwrap_or_default());
        if let Some(result) = errands::run(&name, args.clone(), &mut visit).await {
            return Ok(result.into());
        }
        if let Some(result) = shown::call(self, &name, arguments, &mut visit).await {
            return Ok(result?.into());
        }
        if let Some(result) = defined::call(self, &name, &args, &mut visit).await {
            return Ok(result?.into());
        }
        Ok(lent::call(self, &name, args, &mut visit).await?.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        resources::list(&self.house, request.as_ref()).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates(&self.house))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri == showing::PAGE {
            let page = showing::page(context.client_capabilities().as_ref());
            return Ok(ReadResourceResult::new(vec![page]).into());
        }
        Ok(resources::read(&self.house, &request.uri).await?.into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let ear = Ear::Connection(context.peer);
        let begun = self.watching.subscribe(&self.house, &request.uri, ear);
        begun.map_err(|error| ErrorData::invalid_params(error, None))
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.watching.unsubscribe(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(self.watching.promise(&self.house, requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        tokio::select! {
            () = context.cancelled() => (),
            () = async {
                self.watching.listen(&self.house, context.sink()).await;
                // Nothing to tell is no reason to hang up.
                std::future::pending::<()>().await;
            } => (),
        }
        Ok(())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        prompts::list(&self.house, request.as_ref()).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Ok(prompts::get(&self.house, request).await?.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(completion::complete(&self.house, &request).await)
    }
}
