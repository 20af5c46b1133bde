---@meta

-- The wire's methods and types. Generated from server/protocol by `UPDATE=1 cargo test generated`; do not edit.

--- What the editor sends.
---@alias agent.ClientMethod
---| '"session/new"' # Opens a new session in a folder. agent.NewSessionRequest -> agent.NewSessionResponse
---| '"session/load"' # Opens a session from its log and replays it by `session/update`. agent.LoadSessionRequest -> agent.LoadSessionResponse
---| '"undine/session/messages"' # Messages of an open session, before one or the newest. agent.MessagesParams -> agent.MessagesResult
---| '"session/resume"' # Opens a session from its log and replays nothing. agent.ResumeSessionRequest -> agent.ResumeSessionResponse
---| '"session/close"' # Ends a session's work and lets it go; its log stays. agent.CloseSessionRequest -> agent.CloseSessionResponse
---| '"session/delete"' # Removes a session with all that belongs to it. One that another process has open stays. agent.DeleteSessionRequest -> agent.DeleteSessionResponse
---| '"undine/session/fork"' # Makes a new session of a part of another one, up to one of its messages. agent.ForkSessionParams -> agent.ForkSessionResult
---| '"undine/session/rename"' # Gives a session a title. agent.RenameSessionParams -> agent.RenameSessionResult
---| '"undine/session/export"' # A session as Markdown or as JSON lines. agent.ExportSessionParams -> agent.ExportSessionResult
---| '"undine/session/search"' # Looks for words in the sessions of a folder. agent.SearchSessionsParams -> agent.SearchSessionsResult
---| '"undine/prompts"' # Looks for words in earlier prompts: those of a session first, then those of the folder's last sessions. agent.SearchPromptsParams -> agent.SearchPromptsResult
---| '"session/list"' # Lists the sessions of a folder, newest first. agent.ListSessionsRequest -> agent.ListSessionsResponse
---| '"session/prompt"' # Runs one turn. The answer comes when the turn has ended, and says why. A prompt that is sent while a turn runs steers that turn at its next tool boundary. agent.PromptRequest -> agent.PromptResponse
---| '"session/set_mode"' # Sets how much the session may do without asking. agent.SetSessionModeRequest -> agent.SetSessionModeResponse
---| '"session/set_config_option"' # Sets the model of a session, or how hard it thinks; from the next answer on. agent.SetSessionConfigOptionRequest -> agent.SetSessionConfigOptionResponse
---| '"undine/review/list"' # Lists the agent's changes that the person has not judged yet. agent.ListReviewParams -> agent.ReviewList
---| '"undine/review/resolve"' # Keeps or reverts changes by hunk, file, turn or session. A revert that is asked for while a turn runs waits for its next tool boundary. agent.ResolveReviewParams -> agent.ResolveReviewResult
---| '"undine/review/base"' # A file's text without the agent's unreviewed changes. agent.ReviewBaseParams -> agent.ReviewBaseResult
---| '"undine/checkpoint/list"' # Lists what files were before they were changed, newest first. agent.ListCheckpointsParams -> agent.ListCheckpointsResult
---| '"undine/checkpoint/create"' # Makes a checkpoint of files. agent.CreateCheckpointParams -> agent.CreateCheckpointResult
---| '"undine/checkpoint/restore"' # Gives the files of a checkpoint back what they were, all or none. agent.RestoreCheckpointParams -> agent.RestoreCheckpointResult
---| '"undine/permission/rules"' # Lists what the person has answered so that it is not asked again. agent.ListRulesParams -> agent.RuleList
---| '"undine/permission/forget"' # Takes such an answer back; answers what is left. agent.ForgetRuleParams -> agent.RuleList
---| '"undine/memory/list"' # Lists what is kept over sessions: global facts, then private, then shared ones. agent.ListMemoryParams -> agent.MemoryList
---| '"undine/memory/add"' # Keeps a fact; answers what is kept then. agent.AddMemoryParams -> agent.MemoryList
---| '"undine/memory/remove"' # Removes a fact; answers what is kept then. agent.RemoveMemoryParams -> agent.MemoryList
---| '"undine/process/list"' # Lists a session's processes in the background, oldest first. agent.ListProcessesParams -> agent.ProcessList
---| '"undine/process/read"' # The newest output of a process in the background. agent.ReadProcessParams -> agent.ReadProcessResult
---| '"undine/process/stop"' # Ends a process in the background with all it has started. agent.StopProcessParams -> agent.StopProcessResult
---| '"undine/process/detach"' # Moves the commands that a session's turn waits for to the background; they go on. agent.DetachProcessParams -> agent.ProcessList
---| '"undine/agent/detach"' # Moves the subagents that a session's turn waits for to the background; they go on. agent.DetachAgentParams -> agent.AgentList
---| '"undine/auth/status"' # Tells where the providers' keys are, never what they are. agent.AuthStatusParams -> agent.AuthStatus
---| '"undine/auth/set"' # Stores a provider's key in the system's keyring; it counts for the next request. agent.SetKeyParams -> agent.ProviderKey
---| '"undine/auth/clear"' # Takes a provider's key out of the system's keyring. agent.ClearKeyParams -> agent.ClearKeyResult
---| '"undine/models"' # Lists the models that can be chosen, by provider, with their windows and prices. agent.ListModelsParams -> agent.ModelList
---| '"undine/usage"' # The tokens a session has used, by model, and what they cost. agent.UsageParams -> agent.UsageReport
---| '"undine/context"' # What fills a session's window, part by part. agent.ContextParams -> agent.ContextReport
---| '"undine/btw"' # Asks something beside the conversation, at any time. Nothing of it is kept in the session. agent.BtwParams -> agent.BtwResult
---| '"undine/btw/clear"' # Forgets what was asked beside a session, so that the next such question is asked without it. agent.ClearBtwParams -> agent.ClearBtwResult
---| '"session/cancel"' # Ends the running turn; every running and queued prompt of the session is answered with the stop reason `cancelled`. agent.CancelNotification

--- What the server sends.
---@alias agent.ServerMethod
---| '"session/request_permission"' # Asks whether a planned call may run. agent.RequestPermissionRequest -> agent.RequestPermissionResponse
---| '"elicitation/create"' # Puts the model's questions to the person. agent.CreateElicitationRequest -> agent.CreateElicitationResponse
---| '"undine/document/save"' # Asks the editor to save a document: one that was clean before the agent edited it, or one that the person wants saved before a command runs. agent.SaveDocumentParams -> agent.SaveDocumentResult
---| '"undine/selection"' # Asks what the person has selected, because a prompt mentions `@selection`. agent.SelectionParams -> agent.SelectionResult
---| '"undine/diagnostics"' # Asks for the problems that the editor shows: because a prompt mentions `@diagnostics`, and around an edit of the agent's. agent.DiagnosticsParams -> agent.DiagnosticsResult
---| '"undine/symbols"' # Asks where the workspace's symbols of a name are, because a prompt mentions `@symbol:name`. agent.SymbolsParams -> agent.SymbolsResult
---| '"session/update"' # Something in a session changed. agent.SessionNotification
---| '"undine/review/changed"' # The unreviewed changes of these files are others now, or stand elsewhere. agent.ReviewList
---| '"undine/process/changed"' # A session's processes in the background are these now. agent.ProcessList
---| '"undine/retry"' # The model failed and is asked again, or that is over. Show it beside the session, with a countdown; it is no part of the transcript. agent.RetryParams
---| '"undine/btw/chunk"' # A piece of the answer to a side question. agent.BtwChunk

---@class agent.NewSessionRequest
---@field cwd string
---@field additionalDirectories? string[]
---@field mcpServers agent.McpServer[]
---@field systemPrompt? agent.SystemPrompt|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@class agent.McpServer.http: agent.McpServerHttp
---@field type "http"

---@class agent.McpServer.sse: agent.McpServerSse
---@field type "sse"

---@alias agent.McpServer
---| agent.McpServer.http
---| agent.McpServer.sse
---| agent.McpServerStdio

---@class agent.HttpHeader
---@field name string
---@field value string
---@field _meta? table<string, any>|vim.NIL

---@class agent.McpServerHttp
---@field name string
---@field url string
---@field headers agent.HttpHeader[]
---@field _meta? table<string, any>|vim.NIL

---@class agent.McpServerSse
---@field name string
---@field url string
---@field headers agent.HttpHeader[]
---@field _meta? table<string, any>|vim.NIL

---@class agent.McpServerStdio
---@field name string
---@field command string
---@field args string[]
---@field env agent.EnvVariable[]
---@field _meta? table<string, any>|vim.NIL

---@class agent.EnvVariable
---@field name string
---@field value string
---@field _meta? table<string, any>|vim.NIL

---@class agent.SystemPrompt
---@field mode agent.SystemPromptMode
---@field content agent.ContentBlock[]
---@field _meta? table<string, any>|vim.NIL

---@alias agent.SystemPromptMode
---| '"append"'
---| '"override"'
---| string

---@class agent.ContentBlock.text: agent.TextContent
---@field type "text"

---@class agent.ContentBlock.image: agent.ImageContent
---@field type "image"

---@class agent.ContentBlock.audio: agent.AudioContent
---@field type "audio"

---@class agent.ContentBlock.resource_link: agent.ResourceLink
---@field type "resource_link"

---@class agent.ContentBlock.resource: agent.EmbeddedResource
---@field type "resource"

---@alias agent.ContentBlock
---| agent.ContentBlock.text
---| agent.ContentBlock.image
---| agent.ContentBlock.audio
---| agent.ContentBlock.resource_link
---| agent.ContentBlock.resource

---@class agent.Annotations
---@field audience? agent.Role[]|vim.NIL
---@field lastModified? string|vim.NIL
---@field priority? number|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@alias agent.Role
---| '"assistant"'
---| '"user"'

---@class agent.TextContent
---@field annotations? agent.Annotations|vim.NIL
---@field text string
---@field _meta? table<string, any>|vim.NIL

---@class agent.ImageContent
---@field annotations? agent.Annotations|vim.NIL
---@field data string
---@field mimeType string
---@field uri? string|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@class agent.AudioContent
---@field annotations? agent.Annotations|vim.NIL
---@field data string
---@field mimeType string
---@field _meta? table<string, any>|vim.NIL

---@class agent.ResourceLink
---@field annotations? agent.Annotations|vim.NIL
---@field description? string|vim.NIL
---@field mimeType? string|vim.NIL
---@field name string
---@field size? integer|vim.NIL
---@field title? string|vim.NIL
---@field uri string
---@field _meta? table<string, any>|vim.NIL

---@alias agent.EmbeddedResourceResource
---| agent.TextResourceContents
---| agent.BlobResourceContents

---@class agent.TextResourceContents
---@field mimeType? string|vim.NIL
---@field text string
---@field uri string
---@field _meta? table<string, any>|vim.NIL

---@class agent.BlobResourceContents
---@field blob string
---@field mimeType? string|vim.NIL
---@field uri string
---@field _meta? table<string, any>|vim.NIL

---@class agent.EmbeddedResource
---@field annotations? agent.Annotations|vim.NIL
---@field resource agent.EmbeddedResourceResource
---@field _meta? table<string, any>|vim.NIL

---@class agent.NewSessionResponse
---@field sessionId agent.SessionId
---@field modes? agent.SessionModeState|vim.NIL
---@field configOptions? agent.SessionConfigOption[]|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@alias agent.SessionId string

---@class agent.SessionModeState
---@field currentModeId agent.SessionModeId
---@field availableModes agent.SessionMode[]
---@field _meta? table<string, any>|vim.NIL

---@alias agent.SessionModeId string

---@class agent.SessionMode
---@field id agent.SessionModeId
---@field name string
---@field description? string|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@class agent.SessionConfigOption.select: agent.SessionConfigSelect
---@field type "select"
---@field id agent.SessionConfigId
---@field name string
---@field description? string|vim.NIL
---@field category? agent.SessionConfigOptionCategory|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@class agent.SessionConfigOption.boolean: agent.SessionConfigBoolean
---@field type "boolean"
---@field id agent.SessionConfigId
---@field name string
---@field description? string|vim.NIL
---@field category? agent.SessionConfigOptionCategory|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@alias agent.SessionConfigOption
---| agent.SessionConfigOption.select
---| agent.SessionConfigOption.boolean

---@alias agent.SessionConfigId string

---@alias agent.SessionConfigOptionCategory
---| '"mode"'
---| '"model"'
---| '"model_config"'
---| '"thought_level"'
---| string

---@alias agent.SessionConfigValueId string

---@alias agent.SessionConfigSelectOptions
---| agent.SessionConfigSelectOption[]
---| agent.SessionConfigSelectGroup[]

---@class agent.SessionConfigSelectOption
---@field value agent.SessionConfigValueId
---@field name string
---@field description? string|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@class agent.SessionConfigSelectGroup
---@field group agent.SessionConfigGroupId
---@field name string
---@field options agent.SessionConfigSelectOption[]
---@field _meta? table<string, any>|vim.NIL

---@alias agent.SessionConfigGroupId string

---@class agent.SessionConfigSelect
---@field currentValue agent.SessionConfigValueId
---@field options agent.SessionConfigSelectOptions

---@class agent.SessionConfigBoolean
---@field currentValue boolean

---@class agent.LoadSessionRequest
---@field mcpServers agent.McpServer[]
---@field cwd string
---@field additionalDirectories? string[]
---@field sessionId agent.SessionId
---@field systemPrompt? agent.SystemPrompt|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@class agent.LoadSessionResponse
---@field modes? agent.SessionModeState|vim.NIL
---@field configOptions? agent.SessionConfigOption[]|vim.NIL
---@field _meta? table<string, any>|vim.NIL

--- Which messages of an open session.
---@class agent.MessagesParams
---@field sessionId string
---@field before? integer|vim.NIL Those before the one of this number; the newest when missing.
---@field limit integer How many; a few more come where calls and their results belong together.

--- Messages, the oldest first.
---@class agent.MessagesResult
---@field messages agent.PastMessage[]
---@field total integer Messages of the whole session.

--- A message as `session/update` would show it.
---@class agent.PastMessage
---@field number integer Counted from 1 over the session's whole life: each prompt, each answer with its calls, each result.
---@field updates agent.SessionUpdate[]

---@class agent.SessionUpdate.user_message_chunk: agent.ContentChunk
---@field sessionUpdate "user_message_chunk"

---@class agent.SessionUpdate.agent_message_chunk: agent.ContentChunk
---@field sessionUpdate "agent_message_chunk"

---@class agent.SessionUpdate.agent_thought_chunk: agent.ContentChunk
---@field sessionUpdate "agent_thought_chunk"

---@class agent.SessionUpdate.tool_call: agent.ToolCall
---@field sessionUpdate "tool_call"

---@class agent.SessionUpdate.tool_call_update: agent.ToolCallUpdate
---@field sessionUpdate "tool_call_update"

---@class agent.SessionUpdate.plan: agent.Plan
---@field sessionUpdate "plan"

---@class agent.SessionUpdate.plan_update: agent.PlanUpdate
---@field sessionUpdate "plan_update"

---@class agent.SessionUpdate.plan_removed: agent.PlanRemoved
---@field sessionUpdate "plan_removed"

---@class agent.SessionUpdate.available_commands_update: agent.AvailableCommandsUpdate
---@field sessionUpdate "available_commands_update"

---@class agent.SessionUpdate.current_mode_update: agent.CurrentModeUpdate
---@field sessionUpdate "current_mode_update"

---@class agent.SessionUpdate.config_option_update: agent.ConfigOptionUpdate
---@field sessionUpdate "config_option_update"

---@class agent.SessionUpdate.session_info_update: agent.SessionInfoUpdate
---@field sessionUpdate "session_info_update"

---@class agent.SessionUpdate.usage_update: agent.UsageUpdate
---@field sessionUpdate "usage_update"

---@class agent.SessionUpdate.notice: agent.Notice
---@field sessionUpdate "notice"

---@class agent.SessionUpdate.compaction_update: agent.CompactionUpdate
---@field sessionUpdate "compaction_update"

---@class agent.SessionUpdate.compaction_summary_chunk: agent.CompactionSummaryChunk
---@field sessionUpdate "compaction_summary_chunk"

---@class agent.SessionUpdate.subagent_update: agent.SubagentUpdate
---@field sessionUpdate "subagent_update"

---@class agent.SessionUpdate.session_message: agent.SessionMessage
---@field sessionUpdate "session_message"

---@class agent.SessionUpdate.session_message_chunk: agent.SessionMessageChunk
---@field sessionUpdate "session_message_chunk"

---@alias agent.SessionUpdate
---| agent.SessionUpdate.user_message_chunk
---| agent.SessionUpdate.agent_message_chunk
---| agent.SessionUpdate.agent_thought_chunk
---| agent.SessionUpdate.tool_call
---| agent.SessionUpdate.tool_call_update
---| agent.SessionUpdate.plan
---| agent.SessionUpdate.plan_update
---| agent.SessionUpdate.plan_removed
---| agent.SessionUpdate.available_commands_update
---| agent.SessionUpdate.current_mode_update
---| agent.SessionUpdate.config_option_update
---| agent.SessionUpdate.session_info_update
---| agent.SessionUpdate.usage_update
---| agent.SessionUpdate.notice
---| agent.SessionUpdate.compaction_update
---| agent.SessionUpdate.compaction_summary_chunk
---| agent.SessionUpdate.subagent_update
---| agent.SessionUpdate.session_message
---| agent.SessionUpdate.session_message_chunk

---@alias agent.MessageId string

---@class agent.ContentChunk
---@field content agent.ContentBlock
---@field messageId? agent.MessageId|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@alias agent.ToolCallId string

---@alias agent.ToolKind
---| '"read"'
---| '"edit"'
---| '"delete"'
---| '"move"'
---| '"search"'
---| '"execute"'
---| '"think"'
---| '"fetch"'
---| '"switch_mode"'
---| '"other"'

---@alias agent.ToolCallStatus
---| '"pending"'
---| '"in_progress"'
---| '"completed"'
---| '"failed"'

---@class agent.ToolCallContent.content: agent.Content
---@field type "content"

---@class agent.ToolCallContent.diff: agent.Diff
---@field type "diff"

---@class agent.ToolCallContent.terminal: agent.Terminal
---@field type "terminal"

---@class agent.ToolCallContent.session: agent.SessionReference
---@field type "session"

---@alias agent.ToolCallContent
---| agent.ToolCallContent.content
---| agent.ToolCallContent.diff
---| agent.ToolCallContent.terminal
---| agent.ToolCallContent.session

---@class agent.Content
---@field content agent.ContentBlock
---@field _meta? table<string, any>|vim.NIL

---@class agent.Diff
---@field path string
---@field oldText? string|vim.NIL
---@field newText string
---@field _meta? table<string, any>|vim.NIL

---@alias agent.TerminalId string

---@class agent.Terminal
---@field terminalId agent.TerminalId
---@field _meta? table<string, any>|vim.NIL

---@class agent.SessionReference
---@field sessionId agent.SessionId
---@field _meta? table<string, any>|vim.NIL

---@class agent.ToolCallLocation
---@field path string
---@field line? integer|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@class agent.ToolCall
---@field toolCallId agent.ToolCallId
---@field title string
---@field name? string|vim.NIL
---@field kind? agent.ToolKind
---@field status? agent.ToolCallStatus
---@field content? agent.ToolCallContent[]
---@field locations? agent.ToolCallLocation[]
---@field rawInput? any
---@field rawOutput? any
---@field _meta? table<string, any>|vim.NIL

---@class agent.ToolCallUpdate
---@field toolCallId agent.ToolCallId
---@field kind? agent.ToolKind|vim.NIL
---@field status? agent.ToolCallStatus|vim.NIL
---@field title? string|vim.NIL
---@field name? string|vim.NIL
---@field content? agent.ToolCallContent[]|vim.NIL
---@field locations? agent.ToolCallLocation[]|vim.NIL
---@field rawInput? any
---@field rawOutput? any
---@field _meta? table<string, any>|vim.NIL

---@class agent.PlanEntry
---@field content string
---@field priority agent.PlanEntryPriority
---@field status agent.PlanEntryStatus
---@field _meta? table<string, any>|vim.NIL

---@alias agent.PlanEntryPriority
---| '"high"'
---| '"medium"'
---| '"low"'

---@alias agent.PlanEntryStatus
---| '"pending"'
---| '"in_progress"'
---| '"completed"'

---@class agent.Plan
---@field entries agent.PlanEntry[]
---@field _meta? table<string, any>|vim.NIL

---@class agent.PlanUpdateContent.items: agent.PlanItems
---@field type "items"

---@class agent.PlanUpdateContent.markdown: agent.PlanMarkdown
---@field type "markdown"

---@alias agent.PlanUpdateContent
---| agent.PlanUpdateContent.items
---| agent.PlanUpdateContent.markdown

---@alias agent.PlanId string

---@class agent.PlanItems
---@field planId agent.PlanId
---@field entries agent.PlanEntry[]
---@field _meta? table<string, any>|vim.NIL

---@class agent.PlanMarkdown
---@field planId agent.PlanId
---@field content string
---@field path? string|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@class agent.PlanUpdate
---@field plan agent.PlanUpdateContent
---@field _meta? table<string, any>|vim.NIL

---@class agent.PlanRemoved
---@field planId agent.PlanId
---@field _meta? table<string, any>|vim.NIL

---@class agent.AvailableCommand
---@field name string
---@field description string
---@field input? agent.AvailableCommandInput|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@alias agent.AvailableCommandInput agent.UnstructuredCommandInput

---@class agent.UnstructuredCommandInput
---@field hint string
---@field _meta? table<string, any>|vim.NIL

---@class agent.AvailableCommandsUpdate
---@field availableCommands agent.AvailableCommand[]
---@field _meta? table<string, any>|vim.NIL

---@class agent.CurrentModeUpdate
---@field currentModeId agent.SessionModeId
---@field _meta? table<string, any>|vim.NIL

---@class agent.ConfigOptionUpdate
---@field configOptions agent.SessionConfigOption[]
---@field _meta? table<string, any>|vim.NIL

---@class agent.SessionInfoUpdate
---@field title? string|vim.NIL
---@field updatedAt? string|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@class agent.Cost
---@field amount number
---@field currency string
---@field _meta? table<string, any>|vim.NIL

---@class agent.UsageUpdate
---@field used integer
---@field size integer
---@field cost? agent.Cost|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@alias agent.NoticeSeverity
---| '"info"'
---| '"warning"'
---| '"error"'
---| string

---@class agent.Notice
---@field severity agent.NoticeSeverity
---@field title string
---@field description? string|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@alias agent.CompactionId string

---@alias agent.CompactionStatus
---| '"in_progress"'
---| '"completed"'
---| '"failed"'
---| '"cancelled"'
---| string

---@class agent.CompactionUpdate
---@field compactionId agent.CompactionId
---@field status agent.CompactionStatus
---@field summary? agent.ContentBlock[]|vim.NIL
---@field error? string|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@class agent.CompactionSummaryChunk
---@field compactionId agent.CompactionId
---@field content agent.ContentBlock
---@field _meta? table<string, any>|vim.NIL

---@class agent.SubagentSessionCapabilities
---@field cancel? agent.SessionCancelCapabilities|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@class agent.SessionCancelCapabilities
---@field _meta? table<string, any>|vim.NIL

---@class agent.StateUpdate.running: agent.RunningStateUpdate
---@field state "running"

---@class agent.StateUpdate.idle: agent.IdleStateUpdate
---@field state "idle"

---@class agent.StateUpdate.requires_action: agent.RequiresActionStateUpdate
---@field state "requires_action"

---@class agent.StateUpdate.unknown: agent.UnknownStateUpdate
---@field state "unknown"

---@alias agent.StateUpdate
---| agent.StateUpdate.running
---| agent.StateUpdate.idle
---| agent.StateUpdate.requires_action
---| agent.StateUpdate.unknown

---@class agent.RunningStateUpdate
---@field _meta? table<string, any>|vim.NIL

---@class agent.Error
---@field code agent.ErrorCode
---@field message string
---@field data? any

---@alias agent.ErrorCode
---| -32700
---| -32600
---| -32601
---| -32602
---| -32603
---| -32800
---| -32000
---| -32002
---| integer

---@class agent.ErrorStopReason
---@field error? agent.Error|vim.NIL

---@class agent.IdleStateUpdate.end_turn
---@field stopReason "end_turn"
---@field _meta? table<string, any>|vim.NIL

---@class agent.IdleStateUpdate.max_tokens
---@field stopReason "max_tokens"
---@field _meta? table<string, any>|vim.NIL

---@class agent.IdleStateUpdate.max_turn_requests
---@field stopReason "max_turn_requests"
---@field _meta? table<string, any>|vim.NIL

---@class agent.IdleStateUpdate.refusal
---@field stopReason "refusal"
---@field _meta? table<string, any>|vim.NIL

---@class agent.IdleStateUpdate.cancelled
---@field stopReason "cancelled"
---@field _meta? table<string, any>|vim.NIL

---@class agent.IdleStateUpdate.error: agent.ErrorStopReason
---@field stopReason "error"
---@field _meta? table<string, any>|vim.NIL

---@class agent.IdleStateUpdate.7
---@field stopReason? vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@alias agent.IdleStateUpdate
---| agent.IdleStateUpdate.end_turn
---| agent.IdleStateUpdate.max_tokens
---| agent.IdleStateUpdate.max_turn_requests
---| agent.IdleStateUpdate.refusal
---| agent.IdleStateUpdate.cancelled
---| agent.IdleStateUpdate.error
---| agent.IdleStateUpdate.7

---@class agent.RequiresActionStateUpdate
---@field _meta? table<string, any>|vim.NIL

---@class agent.UnknownStateUpdate
---@field _meta? table<string, any>|vim.NIL

---@class agent.SubagentUpdate
---@field sessionId agent.SessionId
---@field title? string|vim.NIL
---@field description? string|vim.NIL
---@field capabilities? agent.SubagentSessionCapabilities|vim.NIL
---@field state? agent.StateUpdate|vim.NIL
---@field cwd? string|vim.NIL
---@field additionalDirectories? string[]|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@class agent.SessionMessage
---@field messageId agent.MessageId
---@field senderSessionId? agent.SessionId|vim.NIL
---@field recipientSessionId? agent.SessionId|vim.NIL
---@field senderMessageId? agent.MessageId|vim.NIL
---@field recipientMessageId? agent.MessageId|vim.NIL
---@field content? agent.ContentBlock[]|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@class agent.SessionMessageChunk
---@field messageId agent.MessageId
---@field content agent.ContentBlock
---@field _meta? table<string, any>|vim.NIL

---@class agent.ResumeSessionRequest
---@field sessionId agent.SessionId
---@field cwd string
---@field additionalDirectories? string[]
---@field mcpServers? agent.McpServer[]
---@field systemPrompt? agent.SystemPrompt|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@class agent.ResumeSessionResponse
---@field modes? agent.SessionModeState|vim.NIL
---@field configOptions? agent.SessionConfigOption[]|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@class agent.CloseSessionRequest
---@field sessionId agent.SessionId
---@field _meta? table<string, any>|vim.NIL

---@class agent.CloseSessionResponse
---@field _meta? table<string, any>|vim.NIL

---@class agent.DeleteSessionRequest
---@field sessionId agent.SessionId
---@field _meta? table<string, any>|vim.NIL

---@class agent.DeleteSessionResponse
---@field _meta? table<string, any>|vim.NIL

--- Makes a new session of a part of another one, which stays as it is.
---@class agent.ForkSessionParams
---@field sessionId string
---@field cwd? string|vim.NIL
---@field message? integer|vim.NIL The last message that is taken over, counted from 1; 0 takes none, and without it all are. An answer is taken over with the results of its calls.

---@class agent.ForkSessionResult
---@field sessionId string The new session. It is opened by `session/load`.
---@field message integer The last message that was taken over.
---@field prompt? string|vim.NIL What the person wrote next in the session that is left.
---@field checkpoints agent.Checkpoint[] Checkpoints that were made after that message, oldest first. Files are as they were; restoring the first of them gives back what its files were at that message.

--- Files as they were at one moment.
---@class agent.Checkpoint
---@field id string
---@field time integer Milliseconds since the Unix epoch.
---@field title string What was about to happen, in one line.
---@field sessionId? string|vim.NIL The session, turn and tool call that it was made for, where it was made for one.
---@field turn? integer|vim.NIL
---@field toolCallId? string|vim.NIL
---@field files agent.CheckpointFile[]

---@class agent.CheckpointFile
---@field path string Relative to the project, or absolute for a file outside of it.
---@field existed boolean Whether the file was there; one that was not is removed by a restore.

--- Gives a session a title.
---@class agent.RenameSessionParams
---@field sessionId string
---@field cwd? string|vim.NIL
---@field title string

---@class agent.RenameSessionResult
---@field title string As it is kept: one line, without secrets, not too long.

--- Asks for a session as a text.
---@class agent.ExportSessionParams
---@field sessionId string
---@field cwd? string|vim.NIL
---@field format? agent.ExportFormat

---@alias agent.ExportFormat
---| '"markdown"'
---| '"jsonl"'

--- The text, or the file that it was written to because it is long.
---@class agent.ExportSessionResult
---@field text? string|vim.NIL
---@field path? string|vim.NIL

--- Looks for words in the sessions of a folder, those of earlier runs included. Every word must be in one, case ignored.
---@class agent.SearchSessionsParams
---@field cwd? string|vim.NIL The editor's first folder, if missing.
---@field query string

---@class agent.SearchSessionsResult
---@field sessions agent.FoundSession[] Newest first.

---@class agent.FoundSession
---@field sessionId string
---@field cwd string
---@field title string
---@field updatedAt? string|vim.NIL As in ISO 8601.
---@field message? integer|vim.NIL The message that has the words; missing where the title does.
---@field excerpt string The words with what stands around them, in one line.

--- Looks for words in what the person wrote before (spec 13.4a). No words: all fits.
---@class agent.SearchPromptsParams
---@field cwd? string|vim.NIL The editor's first folder, if missing.
---@field sessionId? string|vim.NIL The session whose prompts come first.
---@field words? string

---@class agent.SearchPromptsResult
---@field prompts agent.EarlierPrompt[] Newest first, none twice.

---@class agent.EarlierPrompt
---@field text string
---@field sessionId string

---@class agent.ListSessionsRequest
---@field cwd? string|vim.NIL
---@field cursor? string|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@class agent.ListSessionsResponse
---@field sessions agent.SessionInfo[]
---@field nextCursor? string|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@class agent.SessionInfo
---@field sessionId agent.SessionId
---@field cwd string
---@field additionalDirectories? string[]
---@field title? string|vim.NIL
---@field updatedAt? string|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@class agent.PromptRequest
---@field sessionId agent.SessionId
---@field prompt agent.ContentBlock[]
---@field _meta? table<string, any>|vim.NIL

---@class agent.PromptResponse
---@field stopReason agent.StopReason
---@field _meta? table<string, any>|vim.NIL

---@alias agent.StopReason
---| '"end_turn"'
---| '"max_tokens"'
---| '"max_turn_requests"'
---| '"refusal"'
---| '"cancelled"'

---@class agent.SetSessionModeRequest
---@field sessionId agent.SessionId
---@field modeId agent.SessionModeId
---@field _meta? table<string, any>|vim.NIL

---@class agent.SetSessionModeResponse
---@field _meta? table<string, any>|vim.NIL

---@class agent.SetSessionConfigOptionRequest.boolean
---@field type "boolean"
---@field value boolean
---@field sessionId agent.SessionId
---@field configId agent.SessionConfigId
---@field _meta? table<string, any>|vim.NIL

---@class agent.SetSessionConfigOptionRequest.2
---@field value agent.SessionConfigValueId
---@field sessionId agent.SessionId
---@field configId agent.SessionConfigId
---@field _meta? table<string, any>|vim.NIL

---@alias agent.SetSessionConfigOptionRequest
---| agent.SetSessionConfigOptionRequest.boolean
---| agent.SetSessionConfigOptionRequest.2

---@class agent.SetSessionConfigOptionResponse
---@field configOptions agent.SessionConfigOption[]
---@field _meta? table<string, any>|vim.NIL

--- Which unreviewed changes to list. All, when neither is given.
---@class agent.ListReviewParams
---@field sessionId? string|vim.NIL Only files in which this session has changes.
---@field uri? string|vim.NIL Only this file.

--- Files with unreviewed changes, sorted by URI. In `undine/review/changed` a file without any left stands there with no hunks.
---@class agent.ReviewList
---@field files agent.ReviewFile[]

--- One file and its hunks, in the order of the text.
---@class agent.ReviewFile
---@field uri string As the editor spelled it, where it has the file open.
---@field version? integer|vim.NIL The document's version that the ranges are for; `null` for a file that is not open.
---@field change? agent.WholeFile|vim.NIL What the agent did to the file as a whole.
---@field hunks agent.ReviewHunk[]

--- What was done to a file as a whole and is not judged yet.
---@alias agent.WholeFile
---| '"created"'
---| '"deleted"'

--- Lines that the agent changed together.
---@class agent.ReviewHunk
---@field id string Names the hunk's content and turn: it stays while the hunk moves, and another content has another id.
---@field state agent.ReviewState
---@field range any The hunk's lines in the text as it is, whole lines; empty, at a line's start, where lines were only removed.
---@field baseText string The accepted lines in their place, with their endings.
---@field sessionId string The session whose work it is; with several, the latest.
---@field turn integer The latest turn that worked on it, within that session.
---@field toolCallId string The latest tool call that worked on it.

--- Whose work a hunk is.
---@alias agent.ReviewState
---| '"pending"'
---| '"mixed"'

--- Keeps or reverts changes: the hunks named, or those of the file, the turn or the session. Everything, when nothing is named.
---@class agent.ResolveReviewParams
---@field action agent.ReviewAction
---@field hunkIds? string[]|vim.NIL
---@field uri? string|vim.NIL
---@field turn? integer|vim.NIL A turn of the session that `sessionId` names.
---@field sessionId? string|vim.NIL

---@alias agent.ReviewAction
---| '"keep"'
---| '"revert"'

--- What became of the wish, by hunk id.
---@class agent.ResolveReviewResult
---@field settled string[] Hunks that are settled.
---@field queued string[] Hunks whose revert waits for the running turn's next tool boundary.
---@field remaining string[] Hunks that were meant too and stay: the person's work is in them, or other unreviewed work stands on them.

--- Asks for a file's accepted text.
---@class agent.ReviewBaseParams
---@field uri string

--- The text that the person has accepted: the live one without the agent's unreviewed changes.
---@class agent.ReviewBaseResult
---@field text string

--- Lists the checkpoints of a session's project, newest first.
---@class agent.ListCheckpointsParams
---@field sessionId string

---@class agent.ListCheckpointsResult
---@field checkpoints agent.Checkpoint[]

--- Makes a checkpoint of files by hand.
---@class agent.CreateCheckpointParams
---@field sessionId string
---@field paths string[] Relative to the project, or absolute.

---@class agent.CreateCheckpointResult
---@field checkpoint agent.Checkpoint

--- Gives files back what they were. All or nothing; undone by restoring `undo`.
---@class agent.RestoreCheckpointParams
---@field sessionId string
---@field id string

---@class agent.RestoreCheckpointResult
---@field undo string The checkpoint that was made right before.
---@field restored string[] Files that have their old text again.
---@field removed string[] Files that were removed, because they did not exist.
---@field skipped agent.SkippedFile[] Entries that were passed over, each with the reason.

---@class agent.SkippedFile
---@field path string
---@field reason string

--- Lists what is remembered.
---@class agent.ListRulesParams
---@field sessionId string

--- The answers that count in a session: its own, then those that were given for always.
---@class agent.RuleList
---@field sessionId string
---@field file string Where the answers for always are kept, also when there is none yet.
---@field rules agent.RememberedRule[]

--- A remembered answer.
---@class agent.RememberedRule
---@field id string Stands for exactly this answer.
---@field text string What it allows, in one line.
---@field scope agent.RuleScope
---@field everywhere? boolean Whether an answer for always counts in every project; else only in this session's.

--- How long an answer counts.
---@alias agent.RuleScope
---| '"session"'
---| '"always"'

--- Takes an answer back. What runs by it goes on; it is asked about again at the next call.
---@class agent.ForgetRuleParams
---@field sessionId string
---@field id string The answer's id, or a beginning that no other has.

--- Lists what is kept for a session's project.
---@class agent.ListMemoryParams
---@field sessionId string

--- What is kept: global facts first, then private, then shared ones, each by name.
---@class agent.MemoryList
---@field sessionId string
---@field facts agent.MemoryFact[]

--- A fact that is kept. Its text stands in its file, which may be edited by hand.
---@class agent.MemoryFact
---@field name string
---@field description string In one line.
---@field scope agent.MemoryScope
---@field path string
---@field created? string|vim.NIL RFC 3339; missing where the file does not say it.
---@field tags? string[]

--- For whom a fact is kept. In the order in which a name is looked for.
---@alias agent.MemoryScope
---| '"global"'
---| '"private"'
---| '"shared"'

--- Keeps a fact; one that has the name in this scope is replaced. Answers what is kept then.
---@class agent.AddMemoryParams
---@field sessionId string
---@field content string The fact, as Markdown.
---@field name? string|vim.NIL Its first words if missing.
---@field description? string|vim.NIL Its first line if missing.
---@field tags? string[]|vim.NIL
---@field scope? agent.MemoryScope|vim.NIL `private` if missing.

--- Removes a fact. Answers what is kept then.
---@class agent.RemoveMemoryParams
---@field sessionId string
---@field name string The fact's name, or its file's without `.md`.
---@field scope? agent.MemoryScope|vim.NIL Where it is; the first scope that has the name if missing.

--- Lists a session's processes.
---@class agent.ListProcessesParams
---@field sessionId string

--- A session's processes in the background, oldest first.
---@class agent.ProcessList
---@field sessionId string
---@field processes agent.Process[]

--- A command in the background. It ends with the server at the latest.
---@class agent.Process
---@field id string `bg-` and the process's number; good within its session.
---@field pid integer
---@field command string The command line.
---@field cwd string
---@field state agent.ProcessState
---@field time integer When it was started, in milliseconds since the Unix epoch.
---@field bytes integer Bytes that it has written so far.
---@field log? string|vim.NIL The file with its output, older parts left out where it is large.
---@field toolCallId string The tool call that began it.

---@alias agent.ProcessState
---| '"running"'
---| '"exited"'
---| '"stopped"'
---| '"killed"'

--- Reads a process's output. What the model has read and what it has not is another matter, and stays as it is.
---@class agent.ReadProcessParams
---@field sessionId string
---@field id string
---@field from? integer Bytes of the output that the client has already: the `end` of its last reading.

---@class agent.ReadProcessResult
---@field process agent.Process
---@field output string Plain text, the newest 32 KiB at most.
---@field skipped integer Bytes between `from` and the output that are left out.
---@field end integer Where the output ends, counted from its first byte.

--- Ends a process. One that has ended already is left alone.
---@class agent.StopProcessParams
---@field sessionId string
---@field id string

---@class agent.StopProcessResult
---@field process agent.Process

--- Moves running commands to the background. Their calls end at once, and the model is told.
---@class agent.DetachProcessParams
---@field sessionId string
---@field toolCallId? string|vim.NIL The call whose command is meant; all that run, if missing.

--- Moves running subagents to the background. Their calls end at once, and the report comes later.
---@class agent.DetachAgentParams
---@field sessionId string
---@field toolCallId? string|vim.NIL The call whose subagent is meant; all that calls wait for, if missing.

--- The subagents of a session, oldest first. Those that are neither at work nor kept are not among them.
---@class agent.AgentList
---@field sessionId string
---@field agents agent.Agent[]

--- A subagent of a session.
---@class agent.Agent
---@field id string `agent-3`.
---@field label string What it is called, as the model or its type says.
---@field type string Its type: `general`, `explore` or one of the person's.
---@field state agent.AgentState
---@field background boolean It works in the background: no call waits for it.

--- How far a subagent is.
---@alias agent.AgentState
---| '"running"'
---| '"waiting"'
---| '"ended"'

--- Asks where the providers' keys are.
---@class agent.AuthStatusParams
---@field provider? string|vim.NIL Only this one; all, if missing.

--- Where the keys are. Never what they are.
---@class agent.AuthStatus
---@field providers agent.ProviderKey[] The providers that are known by name, then the configuration's own.
---@field problem? string|vim.NIL Why the keyring could not be asked, in one sentence.

--- Where the key of a provider is.
---@class agent.ProviderKey
---@field provider string
---@field source agent.KeySource
---@field variable? string|vim.NIL The environment variable that holds it.
---@field needed boolean Whether nothing can be asked of the provider without one.
---@field storable boolean Whether one that is stored now would be used.

--- What holds a key.
---@alias agent.KeySource
---| '"env"'
---| '"keyring"'
---| '"none"'

--- Stores a key in the system's keyring. It counts for the next request.
---@class agent.SetKeyParams
---@field provider string
---@field apiKey string The key alone: printable ASCII without blanks, 2500 characters at most. Blanks around it are taken off. Keep it out of logs.

--- Takes a key out of the system's keyring.
---@class agent.ClearKeyParams
---@field provider string

--- Where the key is now: there may be one in the environment.
---@class agent.ClearKeyResult
---@field removed boolean False if the keyring had none.
---@field now agent.ProviderKey

--- Lists models. Providers are asked for theirs where a key is known or none is needed; one that does not answer is named, and the others are listed all the same.
---@class agent.ListModelsParams
---@field sessionId? string|vim.NIL The session whose configuration counts; the editor's first folder if missing.
---@field refresh? boolean Asks the providers again, and not only those that have not answered yet.

---@class agent.ModelList
---@field current? string|vim.NIL The model that answers, as provider/model; missing if none is configured.
---@field aliases agent.ModelAlias[]
---@field providers agent.ModelProvider[]

--- A short name of a model.
---@class agent.ModelAlias
---@field name string
---@field model? string|vim.NIL As provider/model; missing if it leads nowhere.

---@class agent.ModelProvider
---@field name string
---@field key agent.ProviderKey Where its key is, as `undine/auth/status` says it.
---@field hint? string|vim.NIL What to do where its key is missing: one sentence for a person.
---@field problem? string|vim.NIL Why it could not say which models it has: one sentence for a person.
---@field models agent.ListedModel[]

--- A model of a provider. What is missing is not known.
---@class agent.ListedModel
---@field id string As provider/model: what `session/set_config_option` takes.
---@field name? string|vim.NIL Its name for people.
---@field window? integer|vim.NIL Tokens that it can read.
---@field output? integer|vim.NIL Tokens that it can write in one answer.
---@field reasoning? boolean|vim.NIL Whether it reasons.
---@field price? agent.ModelPrice|vim.NIL
---@field live boolean Whether the provider itself has named it, and not only the catalogue or the configuration.

--- US dollars a million tokens.
---@class agent.ModelPrice
---@field input number Read.
---@field output number Written, thoughts included.
---@field cacheRead? number|vim.NIL Read from the cache; as `input` when missing.
---@field cacheWrite? number|vim.NIL Written into the cache; as `input` when missing.

--- What a session has used since it began, also before it was loaded.
---@class agent.UsageParams
---@field sessionId string

--- Tokens by model, and their price. Subagents, the classifier and compaction count.
---@class agent.UsageReport
---@field models agent.ModelUsage[] By model, in the order of their names.
---@field cost? number|vim.NIL US dollars of the models whose price is known; missing if there is none.
---@field unpriced? string[] Models that were used and whose price nobody knows; they are not in `cost`.
---@field used integer Tokens that fill the window; 0 before the first answer.
---@field size integer Tokens of the window; 0 where it is not known.
---@field text string The same for a person, in lines.

--- What one model was asked and answered. The parts of tokens are disjoint.
---@class agent.ModelUsage
---@field model string As provider/model.
---@field answers integer How often it answered.
---@field input integer Tokens that were read and stood in no cache.
---@field cached integer Tokens that were read from the provider's cache.
---@field cacheWrite integer Tokens that were read and put into it.
---@field output integer Tokens that were written, thoughts aside.
---@field reasoning integer Tokens that were written while thinking.
---@field cost? number|vim.NIL US dollars; missing where the price is not known.

--- Of which session.
---@class agent.ContextParams
---@field sessionId string

--- What the next request would hold, in tokens.
---@class agent.ContextReport
---@field used integer All of it: as the provider counted it last, with an estimate of what came since, or an estimate of all.
---@field size integer The window; 0 where it is not known.
---@field reserve integer What is kept free of it for the answer.
---@field threshold? integer|vim.NIL From where on older history is summarised; missing where it is not by itself.
---@field parts agent.ContextPart[] What it consists of, in the order of the request; each an estimate.
---@field text string The same for a person, in lines.

--- One part of it.
---@class agent.ContextPart
---@field part agent.Part
---@field tokens integer An estimate.

--- What a part is.
---@alias agent.Part
---| '"skills"|"memory"|"pictures"'
---| '"system"'
---| '"instructions"'
---| '"tools"'
---| '"summary"'
---| '"user"'
---| '"told"'
---| '"answers"'
---| '"results"'

--- A side question. It can be asked at any time, also while a turn runs.
---@class agent.BtwParams
---@field sessionId string
---@field question string
---@field token? string|vim.NIL Names the question in `undine/btw/chunk`; without one no chunks are sent.

--- The answer, whole. Where there is none, the request fails.
---@class agent.BtwResult
---@field text string
---@field called? string[] Tools that the model called; none of them was run.

--- Forgets what was asked beside a session.
---@class agent.ClearBtwParams
---@field sessionId string

--- Done.
---@class agent.ClearBtwResult

---@class agent.CancelNotification
---@field sessionId agent.SessionId
---@field _meta? table<string, any>|vim.NIL

---@class agent.RequestPermissionRequest
---@field sessionId agent.SessionId
---@field toolCall agent.ToolCallUpdate
---@field options agent.PermissionOption[]
---@field _meta? table<string, any>|vim.NIL

---@class agent.PermissionOption
---@field optionId agent.PermissionOptionId
---@field name string
---@field kind agent.PermissionOptionKind
---@field _meta? table<string, any>|vim.NIL

---@alias agent.PermissionOptionId string

---@alias agent.PermissionOptionKind
---| '"allow_once"'
---| '"allow_always"'
---| '"reject_once"'
---| '"reject_always"'

---@class agent.RequestPermissionResponse
---@field outcome agent.RequestPermissionOutcome
---@field _meta? table<string, any>|vim.NIL

---@class agent.RequestPermissionOutcome.cancelled
---@field outcome "cancelled"

---@class agent.RequestPermissionOutcome.selected: agent.SelectedPermissionOutcome
---@field outcome "selected"

---@alias agent.RequestPermissionOutcome
---| agent.RequestPermissionOutcome.cancelled
---| agent.RequestPermissionOutcome.selected

---@class agent.SelectedPermissionOutcome
---@field optionId agent.PermissionOptionId
---@field _meta? table<string, any>|vim.NIL

---@class agent.CreateElicitationRequest.form: agent.ElicitationFormMode
---@field mode "form"
---@field message string
---@field _meta? table<string, any>|vim.NIL

---@class agent.CreateElicitationRequest.url: agent.ElicitationUrlMode
---@field mode "url"
---@field message string
---@field _meta? table<string, any>|vim.NIL

---@alias agent.CreateElicitationRequest
---| agent.CreateElicitationRequest.form
---| agent.CreateElicitationRequest.url

---@class agent.ElicitationSessionScope
---@field sessionId agent.SessionId
---@field toolCallId? agent.ToolCallId|vim.NIL

---@class agent.ElicitationRequestScope
---@field requestId agent.RequestId

---@alias agent.RequestId
---| vim.NIL
---| integer
---| string

---@class agent.ElicitationSchema
---@field type? agent.ElicitationSchemaType
---@field title? string|vim.NIL
---@field properties? table<string, agent.ElicitationPropertySchema>
---@field required? string[]|vim.NIL
---@field description? string|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@alias agent.ElicitationSchemaType "object"

---@class agent.ElicitationPropertySchema.string: agent.StringPropertySchema
---@field type "string"

---@class agent.ElicitationPropertySchema.number: agent.NumberPropertySchema
---@field type "number"

---@class agent.ElicitationPropertySchema.integer: agent.IntegerPropertySchema
---@field type "integer"

---@class agent.ElicitationPropertySchema.boolean: agent.BooleanPropertySchema
---@field type "boolean"

---@class agent.ElicitationPropertySchema.array: agent.MultiSelectPropertySchema
---@field type "array"

---@alias agent.ElicitationPropertySchema
---| agent.ElicitationPropertySchema.string
---| agent.ElicitationPropertySchema.number
---| agent.ElicitationPropertySchema.integer
---| agent.ElicitationPropertySchema.boolean
---| agent.ElicitationPropertySchema.array

---@alias agent.StringFormat
---| '"email"'
---| '"uri"'
---| '"date"'
---| '"date-time"'

---@class agent.EnumOption
---@field const string
---@field title string
---@field description? string|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@class agent.StringPropertySchema
---@field title? string|vim.NIL
---@field description? string|vim.NIL
---@field minLength? integer|vim.NIL
---@field maxLength? integer|vim.NIL
---@field pattern? string|vim.NIL
---@field format? agent.StringFormat|vim.NIL
---@field default? string|vim.NIL
---@field enum? string[]|vim.NIL
---@field oneOf? agent.EnumOption[]|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@class agent.NumberPropertySchema
---@field title? string|vim.NIL
---@field description? string|vim.NIL
---@field minimum? number|vim.NIL
---@field maximum? number|vim.NIL
---@field default? number|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@class agent.IntegerPropertySchema
---@field title? string|vim.NIL
---@field description? string|vim.NIL
---@field minimum? integer|vim.NIL
---@field maximum? integer|vim.NIL
---@field default? integer|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@class agent.BooleanPropertySchema
---@field title? string|vim.NIL
---@field description? string|vim.NIL
---@field default? boolean|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@class agent.MultiSelectItems.string: agent.StringMultiSelectItems
---@field type "string"

---@alias agent.MultiSelectItems
---| agent.MultiSelectItems.string
---| agent.TitledMultiSelectItems

---@class agent.StringMultiSelectItems
---@field enum string[]
---@field _meta? table<string, any>|vim.NIL

---@class agent.TitledMultiSelectItems
---@field anyOf agent.EnumOption[]
---@field _meta? table<string, any>|vim.NIL

---@class agent.MultiSelectPropertySchema
---@field title? string|vim.NIL
---@field description? string|vim.NIL
---@field minItems? integer|vim.NIL
---@field maxItems? integer|vim.NIL
---@field items agent.MultiSelectItems
---@field default? string[]|vim.NIL
---@field _meta? table<string, any>|vim.NIL

---@class agent.ElicitationFormMode.1: agent.ElicitationSessionScope
---@field requestedSchema agent.ElicitationSchema

---@class agent.ElicitationFormMode.2: agent.ElicitationRequestScope
---@field requestedSchema agent.ElicitationSchema

---@alias agent.ElicitationFormMode
---| agent.ElicitationFormMode.1
---| agent.ElicitationFormMode.2

---@alias agent.ElicitationId string

---@class agent.ElicitationUrlMode.1: agent.ElicitationSessionScope
---@field elicitationId agent.ElicitationId
---@field url string

---@class agent.ElicitationUrlMode.2: agent.ElicitationRequestScope
---@field elicitationId agent.ElicitationId
---@field url string

---@alias agent.ElicitationUrlMode
---| agent.ElicitationUrlMode.1
---| agent.ElicitationUrlMode.2

---@class agent.CreateElicitationResponse.accept: agent.ElicitationAcceptAction
---@field action "accept"
---@field _meta? table<string, any>|vim.NIL

---@class agent.CreateElicitationResponse.decline
---@field action "decline"
---@field _meta? table<string, any>|vim.NIL

---@class agent.CreateElicitationResponse.cancel
---@field action "cancel"
---@field _meta? table<string, any>|vim.NIL

---@alias agent.CreateElicitationResponse
---| agent.CreateElicitationResponse.accept
---| agent.CreateElicitationResponse.decline
---| agent.CreateElicitationResponse.cancel

---@alias agent.ElicitationContentValue
---| string
---| integer
---| number
---| boolean
---| string[]

---@class agent.ElicitationAcceptAction
---@field content? table<string, agent.ElicitationContentValue>|vim.NIL

--- Asks the editor to save one open document.
---@class agent.SaveDocumentParams
---@field uri string The document, spelled as the editor opened it.

--- Whether the document's text is on disk now.
---@class agent.SaveDocumentResult
---@field saved boolean

--- Asks what the person has selected.
---@class agent.SelectionParams

--- The selection of the window that was a file's last.
---@class agent.SelectionResult
---@field selection? agent.EditorSelection|vim.NIL Missing where nothing is selected.

--- A selected text.
---@class agent.EditorSelection
---@field uri string
---@field lines any[] First and last line, counted from 1.
---@field text string

--- Asks for the problems that the editor shows.
---@class agent.DiagnosticsParams
---@field uri? string|vim.NIL The document, spelled as the editor opened it; all files that have problems, if missing.
---@field version? integer|vim.NIL Wait until there are those of this version of the document, and then answer at once.
---@field waitMs? integer|vim.NIL The longest wait, milliseconds. What there is by then is no answer for the version.

--- Problems by file. Where a version was asked for and its problems are not known, its document is not among them.
---@class agent.DiagnosticsResult
---@field files agent.FileProblems[]

--- The problems of one file.
---@class agent.FileProblems
---@field uri string
---@field version? integer|vim.NIL The document's version that they are of.
---@field problems agent.Problem[]

--- One problem. The server's own diagnostics are none.
---@class agent.Problem
---@field line integer Counted from 1.
---@field severity integer As LSP counts: 1 error, 2 warning, 3 information, 4 hint.
---@field message string
---@field source? string|vim.NIL Who found it.

--- Asks where the workspace's symbols of a name are.
---@class agent.SymbolsParams
---@field query string

--- The symbols, best first.
---@class agent.SymbolsResult
---@field symbols agent.FoundSymbol[]

--- A symbol and its place.
---@class agent.FoundSymbol
---@field name string
---@field uri string
---@field lines any[] First and last line of its definition, counted from 1.

---@class agent.SessionNotification
---@field sessionId agent.SessionId
---@field update agent.SessionUpdate
---@field _meta? table<string, any>|vim.NIL

--- Whether a session's model is being asked again. Each takes the place of the one before.
---@class agent.RetryParams
---@field sessionId string
---@field retry? agent.Retry|vim.NIL Missing: it is not, or not any more.

--- Why and when a model is asked again.
---@class agent.Retry
---@field why string What happened, in a sentence for the person.
---@field attempt integer Which try of `of` this is, counted from 1.
---@field of integer
---@field afterMs integer Milliseconds until then; 0: it is being asked already, without what it refused.

--- A piece of the answer, in order.
---@class agent.BtwChunk
---@field sessionId string
---@field token string
---@field text string

--- Lines of a proposed change, in `toolCall._meta.undine.hunks` of a `session/request_permission`. The answer's `_meta.undine.acceptedHunks` names the ids of those that the person wants made.
---@class agent.ProposedHunk
---@field id string Names it within its question.
---@field uri string
---@field range any The lines of the text as it is that would go, whole lines; empty where lines only come in.
---@field removed string Those lines, with their endings.
---@field added string The lines that would come in their place, with their endings.
