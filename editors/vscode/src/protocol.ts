// The wire's methods and types. Generated from server/protocol by `UPDATE=1 cargo test generated`; do not edit.

import { NotificationType, RequestType } from "vscode-jsonrpc";

/** Opens a new session in a folder. Editor to server. */
export const newSession = new RequestType<NewSessionRequest, NewSessionResponse, unknown>("session/new");

/** Opens a session from its log and replays it by `session/update`. Editor to server. */
export const loadSession = new RequestType<LoadSessionRequest, LoadSessionResponse, unknown>("session/load");

/** Messages of an open session, before one or the newest. Editor to server. */
export const sessionMessages = new RequestType<MessagesParams, MessagesResult, unknown>("undine/session/messages");

/** Opens a session from its log and replays nothing. Editor to server. */
export const resumeSession = new RequestType<ResumeSessionRequest, ResumeSessionResponse, unknown>("session/resume");

/** Ends a session's work and lets it go; its log stays. Editor to server. */
export const closeSession = new RequestType<CloseSessionRequest, CloseSessionResponse, unknown>("session/close");

/**
 * Removes a session with all that belongs to it. One that another process has open stays. Editor to
 * server.
 */
export const deleteSession = new RequestType<DeleteSessionRequest, DeleteSessionResponse, unknown>("session/delete");

/** Makes a new session of a part of another one, up to one of its messages. Editor to server. */
export const forkSession = new RequestType<ForkSessionParams, ForkSessionResult, unknown>("undine/session/fork");

/** Gives a session a title. Editor to server. */
export const renameSession = new RequestType<RenameSessionParams, RenameSessionResult, unknown>("undine/session/rename");

/** A session as Markdown or as JSON lines. Editor to server. */
export const exportSession = new RequestType<ExportSessionParams, ExportSessionResult, unknown>("undine/session/export");

/** Looks for words in the sessions of a folder. Editor to server. */
export const searchSessions = new RequestType<SearchSessionsParams, SearchSessionsResult, unknown>("undine/session/search");

/**
 * Looks for words in earlier prompts: those of a session first, then those of the folder's last
 * sessions. Editor to server.
 */
export const searchPrompts = new RequestType<SearchPromptsParams, SearchPromptsResult, unknown>("undine/prompts");

/** Lists the sessions of a folder, newest first. Editor to server. */
export const listSessions = new RequestType<ListSessionsRequest, ListSessionsResponse, unknown>("session/list");

/**
 * Runs one turn. The answer comes when the turn has ended, and says why. A prompt that is sent while a
 * turn runs steers that turn at its next tool boundary. Editor to server.
 */
export const prompt = new RequestType<PromptRequest, PromptResponse, unknown>("session/prompt");

/** Sets how much the session may do without asking. Editor to server. */
export const setMode = new RequestType<SetSessionModeRequest, SetSessionModeResponse, unknown>("session/set_mode");

/** Sets the model of a session, or how hard it thinks; from the next answer on. Editor to server. */
export const setConfigOption = new RequestType<SetSessionConfigOptionRequest, SetSessionConfigOptionResponse, unknown>("session/set_config_option");

/** Lists the agent's changes that the person has not judged yet. Editor to server. */
export const listReview = new RequestType<ListReviewParams, ReviewList, unknown>("undine/review/list");

/**
 * Keeps or reverts changes by hunk, file, turn or session. A revert that is asked for while a turn
 * runs waits for its next tool boundary. Editor to server.
 */
export const resolveReview = new RequestType<ResolveReviewParams, ResolveReviewResult, unknown>("undine/review/resolve");

/** A file's text without the agent's unreviewed changes. Editor to server. */
export const reviewBase = new RequestType<ReviewBaseParams, ReviewBaseResult, unknown>("undine/review/base");

/** Lists what files were before they were changed, newest first. Editor to server. */
export const listCheckpoints = new RequestType<ListCheckpointsParams, ListCheckpointsResult, unknown>("undine/checkpoint/list");

/** Makes a checkpoint of files. Editor to server. */
export const createCheckpoint = new RequestType<CreateCheckpointParams, CreateCheckpointResult, unknown>("undine/checkpoint/create");

/** Gives the files of a checkpoint back what they were, all or none. Editor to server. */
export const restoreCheckpoint = new RequestType<RestoreCheckpointParams, RestoreCheckpointResult, unknown>("undine/checkpoint/restore");

/** Lists what the person has answered so that it is not asked again. Editor to server. */
export const listRules = new RequestType<ListRulesParams, RuleList, unknown>("undine/permission/rules");

/** Takes such an answer back; answers what is left. Editor to server. */
export const forgetRule = new RequestType<ForgetRuleParams, RuleList, unknown>("undine/permission/forget");

/** Lists what is kept over sessions: global facts, then private, then shared ones. Editor to server. */
export const listMemory = new RequestType<ListMemoryParams, MemoryList, unknown>("undine/memory/list");

/** Keeps a fact; answers what is kept then. Editor to server. */
export const addMemory = new RequestType<AddMemoryParams, MemoryList, unknown>("undine/memory/add");

/** Removes a fact; answers what is kept then. Editor to server. */
export const removeMemory = new RequestType<RemoveMemoryParams, MemoryList, unknown>("undine/memory/remove");

/** Lists a session's processes in the background, oldest first. Editor to server. */
export const listProcesses = new RequestType<ListProcessesParams, ProcessList, unknown>("undine/process/list");

/** The newest output of a process in the background. Editor to server. */
export const readProcess = new RequestType<ReadProcessParams, ReadProcessResult, unknown>("undine/process/read");

/** Ends a process in the background with all it has started. Editor to server. */
export const stopProcess = new RequestType<StopProcessParams, StopProcessResult, unknown>("undine/process/stop");

/** Moves the commands that a session's turn waits for to the background; they go on. Editor to server. */
export const detachProcess = new RequestType<DetachProcessParams, ProcessList, unknown>("undine/process/detach");

/** Moves the subagents that a session's turn waits for to the background; they go on. Editor to server. */
export const detachAgent = new RequestType<DetachAgentParams, AgentList, unknown>("undine/agent/detach");

/** Tells where the providers' keys are, never what they are. Editor to server. */
export const authStatus = new RequestType<AuthStatusParams, AuthStatus, unknown>("undine/auth/status");

/** Stores a provider's key in the system's keyring; it counts for the next request. Editor to server. */
export const setKey = new RequestType<SetKeyParams, ProviderKey, unknown>("undine/auth/set");

/** Takes a provider's key out of the system's keyring. Editor to server. */
export const clearKey = new RequestType<ClearKeyParams, ClearKeyResult, unknown>("undine/auth/clear");

/** Lists the models that can be chosen, by provider, with their windows and prices. Editor to server. */
export const listModels = new RequestType<ListModelsParams, ModelList, unknown>("undine/models");

/** The tokens a session has used, by model, and what they cost. Editor to server. */
export const sessionUsage = new RequestType<UsageParams, UsageReport, unknown>("undine/usage");

/** What fills a session's window, part by part. Editor to server. */
export const sessionContext = new RequestType<ContextParams, ContextReport, unknown>("undine/context");

/**
 * Asks something beside the conversation, at any time. Nothing of it is kept in the session. Editor to
 * server.
 */
export const btw = new RequestType<BtwParams, BtwResult, unknown>("undine/btw");

/**
 * Forgets what was asked beside a session, so that the next such question is asked without it. Editor
 * to server.
 */
export const clearBtw = new RequestType<ClearBtwParams, ClearBtwResult, unknown>("undine/btw/clear");

/**
 * Ends the running turn; every running and queued prompt of the session is answered with the stop
 * reason `cancelled`. Editor to server.
 */
export const cancel = new NotificationType<CancelNotification>("session/cancel");

/** Asks whether a planned call may run. Server to editor. */
export const requestPermission = new RequestType<RequestPermissionRequest, RequestPermissionResponse, unknown>("session/request_permission");

/** Puts the model's questions to the person. Server to editor. */
export const createElicitation = new RequestType<CreateElicitationRequest, CreateElicitationResponse, unknown>("elicitation/create");

/**
 * Asks the editor to save a document: one that was clean before the agent edited it, or one that the
 * person wants saved before a command runs. Server to editor.
 */
export const saveDocument = new RequestType<SaveDocumentParams, SaveDocumentResult, unknown>("undine/document/save");

/** Asks what the person has selected, because a prompt mentions `@selection`. Server to editor. */
export const selection = new RequestType<SelectionParams, SelectionResult, unknown>("undine/selection");

/**
 * Asks for the problems that the editor shows: because a prompt mentions `@diagnostics`, and around an
 * edit of the agent's. Server to editor.
 */
export const diagnostics = new RequestType<DiagnosticsParams, DiagnosticsResult, unknown>("undine/diagnostics");

/**
 * Asks where the workspace's symbols of a name are, because a prompt mentions `@symbol:name`. Server
 * to editor.
 */
export const symbols = new RequestType<SymbolsParams, SymbolsResult, unknown>("undine/symbols");

/** Something in a session changed. Server to editor. */
export const update = new NotificationType<SessionNotification>("session/update");

/** The unreviewed changes of these files are others now, or stand elsewhere. Server to editor. */
export const reviewChanged = new NotificationType<ReviewList>("undine/review/changed");

/** A session's processes in the background are these now. Server to editor. */
export const processesChanged = new NotificationType<ProcessList>("undine/process/changed");

/**
 * The model failed and is asked again, or that is over. Show it beside the session, with a countdown;
 * it is no part of the transcript. Server to editor.
 */
export const retry = new NotificationType<RetryParams>("undine/retry");

/** A piece of the answer to a side question. Server to editor. */
export const btwChunk = new NotificationType<BtwChunk>("undine/btw/chunk");

export interface NewSessionRequest {
    cwd: string;
    additionalDirectories?: string[];
    mcpServers: McpServer[];
    systemPrompt?: SystemPrompt | null;
    _meta?: Record<string, unknown> | null;
}

export type McpServer =
    | ({ type: "http" } & McpServerHttp)
    | ({ type: "sse" } & McpServerSse)
    | McpServerStdio;

export interface HttpHeader {
    name: string;
    value: string;
    _meta?: Record<string, unknown> | null;
}

export interface McpServerHttp {
    name: string;
    url: string;
    headers: HttpHeader[];
    _meta?: Record<string, unknown> | null;
}

export interface McpServerSse {
    name: string;
    url: string;
    headers: HttpHeader[];
    _meta?: Record<string, unknown> | null;
}

export interface McpServerStdio {
    name: string;
    command: string;
    args: string[];
    env: EnvVariable[];
    _meta?: Record<string, unknown> | null;
}

export interface EnvVariable {
    name: string;
    value: string;
    _meta?: Record<string, unknown> | null;
}

export interface SystemPrompt {
    mode: SystemPromptMode;
    content: ContentBlock[];
    _meta?: Record<string, unknown> | null;
}

export type SystemPromptMode =
    | "append"
    | "override"
    | (string & {});

export type ContentBlock =
    | ({ type: "text" } & TextContent)
    | ({ type: "image" } & ImageContent)
    | ({ type: "audio" } & AudioContent)
    | ({ type: "resource_link" } & ResourceLink)
    | ({ type: "resource" } & EmbeddedResource);

export interface Annotations {
    audience?: Role[] | null;
    lastModified?: string | null;
    priority?: number | null;
    _meta?: Record<string, unknown> | null;
}

export type Role =
    | "assistant"
    | "user";

export interface TextContent {
    annotations?: Annotations | null;
    text: string;
    _meta?: Record<string, unknown> | null;
}

export interface ImageContent {
    annotations?: Annotations | null;
    data: string;
    mimeType: string;
    uri?: string | null;
    _meta?: Record<string, unknown> | null;
}

export interface AudioContent {
    annotations?: Annotations | null;
    data: string;
    mimeType: string;
    _meta?: Record<string, unknown> | null;
}

export interface ResourceLink {
    annotations?: Annotations | null;
    description?: string | null;
    mimeType?: string | null;
    name: string;
    size?: number | null;
    title?: string | null;
    uri: string;
    _meta?: Record<string, unknown> | null;
}

export type EmbeddedResourceResource =
    | TextResourceContents
    | BlobResourceContents;

export interface TextResourceContents {
    mimeType?: string | null;
    text: string;
    uri: string;
    _meta?: Record<string, unknown> | null;
}

export interface BlobResourceContents {
    blob: string;
    mimeType?: string | null;
    uri: string;
    _meta?: Record<string, unknown> | null;
}

export interface EmbeddedResource {
    annotations?: Annotations | null;
    resource: EmbeddedResourceResource;
    _meta?: Record<string, unknown> | null;
}

export interface NewSessionResponse {
    sessionId: SessionId;
    modes?: SessionModeState | null;
    configOptions?: SessionConfigOption[] | null;
    _meta?: Record<string, unknown> | null;
}

export type SessionId = string;

export interface SessionModeState {
    currentModeId: SessionModeId;
    availableModes: SessionMode[];
    _meta?: Record<string, unknown> | null;
}

export type SessionModeId = string;

export interface SessionMode {
    id: SessionModeId;
    name: string;
    description?: string | null;
    _meta?: Record<string, unknown> | null;
}

export type SessionConfigOption = {
    id: SessionConfigId;
    name: string;
    description?: string | null;
    category?: SessionConfigOptionCategory | null;
    _meta?: Record<string, unknown> | null;
} & (({ type: "select" } & SessionConfigSelect) | ({ type: "boolean" } & SessionConfigBoolean));

export type SessionConfigId = string;

export type SessionConfigOptionCategory =
    | "mode"
    | "model"
    | "model_config"
    | "thought_level"
    | (string & {});

export type SessionConfigValueId = string;

export type SessionConfigSelectOptions =
    | SessionConfigSelectOption[]
    | SessionConfigSelectGroup[];

export interface SessionConfigSelectOption {
    value: SessionConfigValueId;
    name: string;
    description?: string | null;
    _meta?: Record<string, unknown> | null;
}

export interface SessionConfigSelectGroup {
    group: SessionConfigGroupId;
    name: string;
    options: SessionConfigSelectOption[];
    _meta?: Record<string, unknown> | null;
}

export type SessionConfigGroupId = string;

export interface SessionConfigSelect {
    currentValue: SessionConfigValueId;
    options: SessionConfigSelectOptions;
}

export interface SessionConfigBoolean {
    currentValue: boolean;
}

export interface LoadSessionRequest {
    mcpServers: McpServer[];
    cwd: string;
    additionalDirectories?: string[];
    sessionId: SessionId;
    systemPrompt?: SystemPrompt | null;
    _meta?: Record<string, unknown> | null;
}

export interface LoadSessionResponse {
    modes?: SessionModeState | null;
    configOptions?: SessionConfigOption[] | null;
    _meta?: Record<string, unknown> | null;
}

/** Which messages of an open session. */
export interface MessagesParams {
    sessionId: string;
    /** Those before the one of this number; the newest when missing. */
    before?: number | null;
    /** How many; a few more come where calls and their results belong together. */
    limit: number;
}

/** Messages, the oldest first. */
export interface MessagesResult {
    messages: PastMessage[];
    /** Messages of the whole session. */
    total: number;
}

/** A message as `session/update` would show it. */
export interface PastMessage {
    /** Counted from 1 over the session's whole life: each prompt, each answer with its calls, each result. */
    number: number;
    updates: SessionUpdate[];
}

export type SessionUpdate =
    | ({ sessionUpdate: "user_message_chunk" } & ContentChunk)
    | ({ sessionUpdate: "agent_message_chunk" } & ContentChunk)
    | ({ sessionUpdate: "agent_thought_chunk" } & ContentChunk)
    | ({ sessionUpdate: "tool_call" } & ToolCall)
    | ({ sessionUpdate: "tool_call_update" } & ToolCallUpdate)
    | ({ sessionUpdate: "plan" } & Plan)
    | ({ sessionUpdate: "plan_update" } & PlanUpdate)
    | ({ sessionUpdate: "plan_removed" } & PlanRemoved)
    | ({ sessionUpdate: "available_commands_update" } & AvailableCommandsUpdate)
    | ({ sessionUpdate: "current_mode_update" } & CurrentModeUpdate)
    | ({ sessionUpdate: "config_option_update" } & ConfigOptionUpdate)
    | ({ sessionUpdate: "session_info_update" } & SessionInfoUpdate)
    | ({ sessionUpdate: "usage_update" } & UsageUpdate)
    | ({ sessionUpdate: "notice" } & Notice)
    | ({ sessionUpdate: "compaction_update" } & CompactionUpdate)
    | ({ sessionUpdate: "compaction_summary_chunk" } & CompactionSummaryChunk)
    | ({ sessionUpdate: "subagent_update" } & SubagentUpdate)
    | ({ sessionUpdate: "session_message" } & SessionMessage)
    | ({ sessionUpdate: "session_message_chunk" } & SessionMessageChunk);

export type MessageId = string;

export interface ContentChunk {
    content: ContentBlock;
    messageId?: MessageId | null;
    _meta?: Record<string, unknown> | null;
}

export type ToolCallId = string;

export type ToolKind =
    | "read"
    | "edit"
    | "delete"
    | "move"
    | "search"
    | "execute"
    | "think"
    | "fetch"
    | "switch_mode"
    | "other";

export type ToolCallStatus =
    | "pending"
    | "in_progress"
    | "completed"
    | "failed";

export type ToolCallContent =
    | ({ type: "content" } & Content)
    | ({ type: "diff" } & Diff)
    | ({ type: "terminal" } & Terminal)
    | ({ type: "session" } & SessionReference);

export interface Content {
    content: ContentBlock;
    _meta?: Record<string, unknown> | null;
}

export interface Diff {
    path: string;
    oldText?: string | null;
    newText: string;
    _meta?: Record<string, unknown> | null;
}

export type TerminalId = string;

export interface Terminal {
    terminalId: TerminalId;
    _meta?: Record<string, unknown> | null;
}

export interface SessionReference {
    sessionId: SessionId;
    _meta?: Record<string, unknown> | null;
}

export interface ToolCallLocation {
    path: string;
    line?: number | null;
    _meta?: Record<string, unknown> | null;
}

export interface ToolCall {
    toolCallId: ToolCallId;
    title: string;
    name?: string | null;
    kind?: ToolKind;
    status?: ToolCallStatus;
    content?: ToolCallContent[];
    locations?: ToolCallLocation[];
    rawInput?: unknown;
    rawOutput?: unknown;
    _meta?: Record<string, unknown> | null;
}

export interface ToolCallUpdate {
    toolCallId: ToolCallId;
    kind?: ToolKind | null;
    status?: ToolCallStatus | null;
    title?: string | null;
    name?: string | null;
    content?: ToolCallContent[] | null;
    locations?: ToolCallLocation[] | null;
    rawInput?: unknown;
    rawOutput?: unknown;
    _meta?: Record<string, unknown> | null;
}

export interface PlanEntry {
    content: string;
    priority: PlanEntryPriority;
    status: PlanEntryStatus;
    _meta?: Record<string, unknown> | null;
}

export type PlanEntryPriority =
    | "high"
    | "medium"
    | "low";

export type PlanEntryStatus =
    | "pending"
    | "in_progress"
    | "completed";

export interface Plan {
    entries: PlanEntry[];
    _meta?: Record<string, unknown> | null;
}

export type PlanUpdateContent =
    | ({ type: "items" } & PlanItems)
    | ({ type: "markdown" } & PlanMarkdown);

export type PlanId = string;

export interface PlanItems {
    planId: PlanId;
    entries: PlanEntry[];
    _meta?: Record<string, unknown> | null;
}

export interface PlanMarkdown {
    planId: PlanId;
    content: string;
    path?: string | null;
    _meta?: Record<string, unknown> | null;
}

export interface PlanUpdate {
    plan: PlanUpdateContent;
    _meta?: Record<string, unknown> | null;
}

export interface PlanRemoved {
    planId: PlanId;
    _meta?: Record<string, unknown> | null;
}

export interface AvailableCommand {
    name: string;
    description: string;
    input?: AvailableCommandInput | null;
    _meta?: Record<string, unknown> | null;
}

export type AvailableCommandInput = UnstructuredCommandInput;

export interface UnstructuredCommandInput {
    hint: string;
    _meta?: Record<string, unknown> | null;
}

export interface AvailableCommandsUpdate {
    availableCommands: AvailableCommand[];
    _meta?: Record<string, unknown> | null;
}

export interface CurrentModeUpdate {
    currentModeId: SessionModeId;
    _meta?: Record<string, unknown> | null;
}

export interface ConfigOptionUpdate {
    configOptions: SessionConfigOption[];
    _meta?: Record<string, unknown> | null;
}

export interface SessionInfoUpdate {
    title?: string | null;
    updatedAt?: string | null;
    _meta?: Record<string, unknown> | null;
}

export interface Cost {
    amount: number;
    currency: string;
    _meta?: Record<string, unknown> | null;
}

export interface UsageUpdate {
    used: number;
    size: number;
    cost?: Cost | null;
    _meta?: Record<string, unknown> | null;
}

export type NoticeSeverity =
    | "info"
    | "warning"
    | "error"
    | (string & {});

export interface Notice {
    severity: NoticeSeverity;
    title: string;
    description?: string | null;
    _meta?: Record<string, unknown> | null;
}

export type CompactionId = string;

export type CompactionStatus =
    | "in_progress"
    | "completed"
    | "failed"
    | "cancelled"
    | (string & {});

export interface CompactionUpdate {
    compactionId: CompactionId;
    status: CompactionStatus;
    summary?: ContentBlock[] | null;
    error?: string | null;
    _meta?: Record<string, unknown> | null;
}

export interface CompactionSummaryChunk {
    compactionId: CompactionId;
    content: ContentBlock;
    _meta?: Record<string, unknown> | null;
}

export interface SubagentSessionCapabilities {
    cancel?: SessionCancelCapabilities | null;
    _meta?: Record<string, unknown> | null;
}

export interface SessionCancelCapabilities {
    _meta?: Record<string, unknown> | null;
}

export type StateUpdate =
    | ({ state: "running" } & RunningStateUpdate)
    | ({ state: "idle" } & IdleStateUpdate)
    | ({ state: "requires_action" } & RequiresActionStateUpdate)
    | ({ state: "unknown" } & UnknownStateUpdate);

export interface RunningStateUpdate {
    _meta?: Record<string, unknown> | null;
}

export interface Error {
    code: ErrorCode;
    message: string;
    data?: unknown;
}

export type ErrorCode =
    | -32700
    | -32600
    | -32601
    | -32602
    | -32603
    | -32800
    | -32000
    | -32002
    | (number & {});

export interface ErrorStopReason {
    error?: Error | null;
}

export type IdleStateUpdate = {
    _meta?: Record<string, unknown> | null;
    stopReason?: string | null;
} & ({ stopReason: "end_turn" } | { stopReason: "max_tokens" } | { stopReason: "max_turn_requests" } | { stopReason: "refusal" } | { stopReason: "cancelled" } | ({ stopReason: "error" } & ErrorStopReason) | { stopReason?: null });

export interface RequiresActionStateUpdate {
    _meta?: Record<string, unknown> | null;
}

export interface UnknownStateUpdate {
    _meta?: Record<string, unknown> | null;
}

export interface SubagentUpdate {
    sessionId: SessionId;
    title?: string | null;
    description?: string | null;
    capabilities?: SubagentSessionCapabilities | null;
    state?: StateUpdate | null;
    cwd?: string | null;
    additionalDirectories?: string[] | null;
    _meta?: Record<string, unknown> | null;
}

export interface SessionMessage {
    messageId: MessageId;
    senderSessionId?: SessionId | null;
    recipientSessionId?: SessionId | null;
    senderMessageId?: MessageId | null;
    recipientMessageId?: MessageId | null;
    content?: ContentBlock[] | null;
    _meta?: Record<string, unknown> | null;
}

export interface SessionMessageChunk {
    messageId: MessageId;
    content: ContentBlock;
    _meta?: Record<string, unknown> | null;
}

export interface ResumeSessionRequest {
    sessionId: SessionId;
    cwd: string;
    additionalDirectories?: string[];
    mcpServers?: McpServer[];
    systemPrompt?: SystemPrompt | null;
    _meta?: Record<string, unknown> | null;
}

export interface ResumeSessionResponse {
    modes?: SessionModeState | null;
    configOptions?: SessionConfigOption[] | null;
    _meta?: Record<string, unknown> | null;
}

export interface CloseSessionRequest {
    sessionId: SessionId;
    _meta?: Record<string, unknown> | null;
}

export interface CloseSessionResponse {
    _meta?: Record<string, unknown> | null;
}

export interface DeleteSessionRequest {
    sessionId: SessionId;
    _meta?: Record<string, unknown> | null;
}

export interface DeleteSessionResponse {
    _meta?: Record<string, unknown> | null;
}

/** Makes a new session of a part of another one, which stays as it is. */
export interface ForkSessionParams {
    sessionId: string;
    cwd?: string | null;
    /**
     * The last message that is taken over, counted from 1; 0 takes none, and without it all are. An answer
     * is taken over with the results of its calls.
     */
    message?: number | null;
}

export interface ForkSessionResult {
    /** The new session. It is opened by `session/load`. */
    sessionId: string;
    /** The last message that was taken over. */
    message: number;
    /** What the person wrote next in the session that is left. */
    prompt?: string | null;
    /**
     * Checkpoints that were made after that message, oldest first. Files are as they were; restoring the
     * first of them gives back what its files were at that message.
     */
    checkpoints: Checkpoint[];
}

/** Files as they were at one moment. */
export interface Checkpoint {
    id: string;
    /** Milliseconds since the Unix epoch. */
    time: number;
    /** What was about to happen, in one line. */
    title: string;
    /** The session, turn and tool call that it was made for, where it was made for one. */
    sessionId?: string | null;
    turn?: number | null;
    toolCallId?: string | null;
    files: CheckpointFile[];
}

export interface CheckpointFile {
    /** Relative to the project, or absolute for a file outside of it. */
    path: string;
    /** Whether the file was there; one that was not is removed by a restore. */
    existed: boolean;
}

/** Gives a session a title. */
export interface RenameSessionParams {
    sessionId: string;
    cwd?: string | null;
    title: string;
}

export interface RenameSessionResult {
    /** As it is kept: one line, without secrets, not too long. */
    title: string;
}

/** Asks for a session as a text. */
export interface ExportSessionParams {
    sessionId: string;
    cwd?: string | null;
    format?: ExportFormat;
}

export type ExportFormat =
    | "markdown"
    | "jsonl";

/** The text, or the file that it was written to because it is long. */
export interface ExportSessionResult {
    text?: string | null;
    path?: string | null;
}

/**
 * Looks for words in the sessions of a folder, those of earlier runs included. Every word must be in
 * one, case ignored.
 */
export interface SearchSessionsParams {
    /** The editor's first folder, if missing. */
    cwd?: string | null;
    query: string;
}

export interface SearchSessionsResult {
    /** Newest first. */
    sessions: FoundSession[];
}

export interface FoundSession {
    sessionId: string;
    cwd: string;
    title: string;
    /** As in ISO 8601. */
    updatedAt?: string | null;
    /** The message that has the words; missing where the title does. */
    message?: number | null;
    /** The words with what stands around them, in one line. */
    excerpt: string;
}

/** Looks for words in what the person wrote before (spec 13.4a). No words: all fits. */
export interface SearchPromptsParams {
    /** The editor's first folder, if missing. */
    cwd?: string | null;
    /** The session whose prompts come first. */
    sessionId?: string | null;
    words?: string;
}

export interface SearchPromptsResult {
    /** Newest first, none twice. */
    prompts: EarlierPrompt[];
}

export interface EarlierPrompt {
    text: string;
    sessionId: string;
}

export interface ListSessionsRequest {
    cwd?: string | null;
    cursor?: string | null;
    _meta?: Record<string, unknown> | null;
}

export interface ListSessionsResponse {
    sessions: SessionInfo[];
    nextCursor?: string | null;
    _meta?: Record<string, unknown> | null;
}

export interface SessionInfo {
    sessionId: SessionId;
    cwd: string;
    additionalDirectories?: string[];
    title?: string | null;
    updatedAt?: string | null;
    _meta?: Record<string, unknown> | null;
}

export interface PromptRequest {
    sessionId: SessionId;
    prompt: ContentBlock[];
    _meta?: Record<string, unknown> | null;
}

export interface PromptResponse {
    stopReason: StopReason;
    _meta?: Record<string, unknown> | null;
}

export type StopReason =
    | "end_turn"
    | "max_tokens"
    | "max_turn_requests"
    | "refusal"
    | "cancelled";

export interface SetSessionModeRequest {
    sessionId: SessionId;
    modeId: SessionModeId;
    _meta?: Record<string, unknown> | null;
}

export interface SetSessionModeResponse {
    _meta?: Record<string, unknown> | null;
}

export type SetSessionConfigOptionRequest = {
    sessionId: SessionId;
    configId: SessionConfigId;
    _meta?: Record<string, unknown> | null;
} & ({
    type: "boolean";
    value: boolean;
} | {
    value: SessionConfigValueId;
});

export interface SetSessionConfigOptionResponse {
    configOptions: SessionConfigOption[];
    _meta?: Record<string, unknown> | null;
}

/** Which unreviewed changes to list. All, when neither is given. */
export interface ListReviewParams {
    /** Only files in which this session has changes. */
    sessionId?: string | null;
    /** Only this file. */
    uri?: string | null;
}

/**
 * Files with unreviewed changes, sorted by URI. In `undine/review/changed` a file without any left
 * stands there with no hunks.
 */
export interface ReviewList {
    files: ReviewFile[];
}

/** One file and its hunks, in the order of the text. */
export interface ReviewFile {
    /** As the editor spelled it, where it has the file open. */
    uri: string;
    /** The document's version that the ranges are for; `null` for a file that is not open. */
    version?: number | null;
    /** What the agent did to the file as a whole. */
    change?: WholeFile | null;
    hunks: ReviewHunk[];
}

/** What was done to a file as a whole and is not judged yet. */
export type WholeFile =
    | "created"
    | "deleted";

/** Lines that the agent changed together. */
export interface ReviewHunk {
    /**
     * Names the hunk's content and turn: it stays while the hunk moves, and another content has another
     * id.
     */
    id: string;
    state: ReviewState;
    /**
     * The hunk's lines in the text as it is, whole lines; empty, at a line's start, where lines were only
     * removed.
     */
    range: unknown;
    /** The accepted lines in their place, with their endings. */
    baseText: string;
    /** The session whose work it is; with several, the latest. */
    sessionId: string;
    /** The latest turn that worked on it, within that session. */
    turn: number;
    /** The latest tool call that worked on it. */
    toolCallId: string;
}

/** Whose work a hunk is. */
export type ReviewState =
    | "pending"
    | "mixed";

/**
 * Keeps or reverts changes: the hunks named, or those of the file, the turn or the session.
 * Everything, when nothing is named.
 */
export interface ResolveReviewParams {
    action: ReviewAction;
    hunkIds?: string[] | null;
    uri?: string | null;
    /** A turn of the session that `sessionId` names. */
    turn?: number | null;
    sessionId?: string | null;
}

export type ReviewAction =
    | "keep"
    | "revert";

/** What became of the wish, by hunk id. */
export interface ResolveReviewResult {
    /** Hunks that are settled. */
    settled: string[];
    /** Hunks whose revert waits for the running turn's next tool boundary. */
    queued: string[];
    /**
     * Hunks that were meant too and stay: the person's work is in them, or other unreviewed work stands on
     * them.
     */
    remaining: string[];
}

/** Asks for a file's accepted text. */
export interface ReviewBaseParams {
    uri: string;
}

/** The text that the person has accepted: the live one without the agent's unreviewed changes. */
export interface ReviewBaseResult {
    text: string;
}

/** Lists the checkpoints of a session's project, newest first. */
export interface ListCheckpointsParams {
    sessionId: string;
}

export interface ListCheckpointsResult {
    checkpoints: Checkpoint[];
}

/** Makes a checkpoint of files by hand. */
export interface CreateCheckpointParams {
    sessionId: string;
    /** Relative to the project, or absolute. */
    paths: string[];
}

export interface CreateCheckpointResult {
    checkpoint: Checkpoint;
}

/** Gives files back what they were. All or nothing; undone by restoring `undo`. */
export interface RestoreCheckpointParams {
    sessionId: string;
    id: string;
}

export interface RestoreCheckpointResult {
    /** The checkpoint that was made right before. */
    undo: string;
    /** Files that have their old text again. */
    restored: string[];
    /** Files that were removed, because they did not exist. */
    removed: string[];
    /** Entries that were passed over, each with the reason. */
    skipped: SkippedFile[];
}

export interface SkippedFile {
    path: string;
    reason: string;
}

/** Lists what is remembered. */
export interface ListRulesParams {
    sessionId: string;
}

/** The answers that count in a session: its own, then those that were given for always. */
export interface RuleList {
    sessionId: string;
    /** Where the answers for always are kept, also when there is none yet. */
    file: string;
    rules: RememberedRule[];
}

/** A remembered answer. */
export interface RememberedRule {
    /** Stands for exactly this answer. */
    id: string;
    /** What it allows, in one line. */
    text: string;
    scope: RuleScope;
    /** Whether an answer for always counts in every project; else only in this session's. */
    everywhere?: boolean;
}

/** How long an answer counts. */
export type RuleScope =
    | "session"
    | "always";

/** Takes an answer back. What runs by it goes on; it is asked about again at the next call. */
export interface ForgetRuleParams {
    sessionId: string;
    /** The answer's id, or a beginning that no other has. */
    id: string;
}

/** Lists what is kept for a session's project. */
export interface ListMemoryParams {
    sessionId: string;
}

/** What is kept: global facts first, then private, then shared ones, each by name. */
export interface MemoryList {
    sessionId: string;
    facts: MemoryFact[];
}

/** A fact that is kept. Its text stands in its file, which may be edited by hand. */
export interface MemoryFact {
    name: string;
    /** In one line. */
    description: string;
    scope: MemoryScope;
    path: string;
    /** RFC 3339; missing where the file does not say it. */
    created?: string | null;
    tags?: string[];
}

/** For whom a fact is kept. In the order in which a name is looked for. */
export type MemoryScope =
    | "global"
    | "private"
    | "shared";

/** Keeps a fact; one that has the name in this scope is replaced. Answers what is kept then. */
export interface AddMemoryParams {
    sessionId: string;
    /** The fact, as Markdown. */
    content: string;
    /** Its first words if missing. */
    name?: string | null;
    /** Its first line if missing. */
    description?: string | null;
    tags?: string[] | null;
    /** `private` if missing. */
    scope?: MemoryScope | null;
}

/** Removes a fact. Answers what is kept then. */
export interface RemoveMemoryParams {
    sessionId: string;
    /** The fact's name, or its file's without `.md`. */
    name: string;
    /** Where it is; the first scope that has the name if missing. */
    scope?: MemoryScope | null;
}

/** Lists a session's processes. */
export interface ListProcessesParams {
    sessionId: string;
}

/** A session's processes in the background, oldest first. */
export interface ProcessList {
    sessionId: string;
    processes: Process[];
}

/** A command in the background. It ends with the server at the latest. */
export interface Process {
    /** `bg-` and the process's number; good within its session. */
    id: string;
    pid: number;
    /** The command line. */
    command: string;
    cwd: string;
    state: ProcessState;
    /** When it was started, in milliseconds since the Unix epoch. */
    time: number;
    /** Bytes that it has written so far. */
    bytes: number;
    /** The file with its output, older parts left out where it is large. */
    log?: string | null;
    /** The tool call that began it. */
    toolCallId: string;
}

export type ProcessState =
    | "running"
    | "exited"
    | "stopped"
    | "killed";

/**
 * Reads a process's output. What the model has read and what it has not is another matter, and stays
 * as it is.
 */
export interface ReadProcessParams {
    sessionId: string;
    id: string;
    /** Bytes of the output that the client has already: the `end` of its last reading. */
    from?: number;
}

export interface ReadProcessResult {
    process: Process;
    /** Plain text, the newest 32 KiB at most. */
    output: string;
    /** Bytes between `from` and the output that are left out. */
    skipped: number;
    /** Where the output ends, counted from its first byte. */
    end: number;
}

/** Ends a process. One that has ended already is left alone. */
export interface StopProcessParams {
    sessionId: string;
    id: string;
}

export interface StopProcessResult {
    process: Process;
}

/** Moves running commands to the background. Their calls end at once, and the model is told. */
export interface DetachProcessParams {
    sessionId: string;
    /** The call whose command is meant; all that run, if missing. */
    toolCallId?: string | null;
}

/** Moves running subagents to the background. Their calls end at once, and the report comes later. */
export interface DetachAgentParams {
    sessionId: string;
    /** The call whose subagent is meant; all that calls wait for, if missing. */
    toolCallId?: string | null;
}

/**
 * The subagents of a session, oldest first. Those that are neither at work nor kept are not among
 * them.
 */
export interface AgentList {
    sessionId: string;
    agents: Agent[];
}

/** A subagent of a session. */
export interface Agent {
    /** `agent-3`. */
    id: string;
    /** What it is called, as the model or its type says. */
    label: string;
    /** Its type: `general`, `explore` or one of the person's. */
    type: string;
    state: AgentState;
    /** It works in the background: no call waits for it. */
    background: boolean;
}

/** How far a subagent is. */
export type AgentState =
    | "running"
    | "waiting"
    | "ended";

/** Asks where the providers' keys are. */
export interface AuthStatusParams {
    /** Only this one; all, if missing. */
    provider?: string | null;
}

/** Where the keys are. Never what they are. */
export interface AuthStatus {
    /** The providers that are known by name, then the configuration's own. */
    providers: ProviderKey[];
    /** Why the keyring could not be asked, in one sentence. */
    problem?: string | null;
}

/** Where the key of a provider is. */
export interface ProviderKey {
    provider: string;
    source: KeySource;
    /** The environment variable that holds it. */
    variable?: string | null;
    /** Whether nothing can be asked of the provider without one. */
    needed: boolean;
    /** Whether one that is stored now would be used. */
    storable: boolean;
}

/** What holds a key. */
export type KeySource =
    | "env"
    | "keyring"
    | "none";

/** Stores a key in the system's keyring. It counts for the next request. */
export interface SetKeyParams {
    provider: string;
    /**
     * The key alone: printable ASCII without blanks, 2500 characters at most. Blanks around it are taken
     * off. Keep it out of logs.
     */
    apiKey: string;
}

/** Takes a key out of the system's keyring. */
export interface ClearKeyParams {
    provider: string;
}

/** Where the key is now: there may be one in the environment. */
export interface ClearKeyResult {
    /** False if the keyring had none. */
    removed: boolean;
    now: ProviderKey;
}

/**
 * Lists models. Providers are asked for theirs where a key is known or none is needed; one that does
 * not answer is named, and the others are listed all the same.
 */
export interface ListModelsParams {
    /** The session whose configuration counts; the editor's first folder if missing. */
    sessionId?: string | null;
    /** Asks the providers again, and not only those that have not answered yet. */
    refresh?: boolean;
}

export interface ModelList {
    /** The model that answers, as provider/model; missing if none is configured. */
    current?: string | null;
    aliases: ModelAlias[];
    providers: ModelProvider[];
}

/** A short name of a model. */
export interface ModelAlias {
    name: string;
    /** As provider/model; missing if it leads nowhere. */
    model?: string | null;
}

export interface ModelProvider {
    name: string;
    /** Where its key is, as `undine/auth/status` says it. */
    key: ProviderKey;
    /** What to do where its key is missing: one sentence for a person. */
    hint?: string | null;
    /** Why it could not say which models it has: one sentence for a person. */
    problem?: string | null;
    models: ListedModel[];
}

/** A model of a provider. What is missing is not known. */
export interface ListedModel {
    /** As provider/model: what `session/set_config_option` takes. */
    id: string;
    /** Its name for people. */
    name?: string | null;
    /** Tokens that it can read. */
    window?: number | null;
    /** Tokens that it can write in one answer. */
    output?: number | null;
    /** Whether it reasons. */
    reasoning?: boolean | null;
    price?: ModelPrice | null;
    /** Whether the provider itself has named it, and not only the catalogue or the configuration. */
    live: boolean;
}

/** US dollars a million tokens. */
export interface ModelPrice {
    /** Read. */
    input: number;
    /** Written, thoughts included. */
    output: number;
    /** Read from the cache; as `input` when missing. */
    cacheRead?: number | null;
    /** Written into the cache; as `input` when missing. */
    cacheWrite?: number | null;
}

/** What a session has used since it began, also before it was loaded. */
export interface UsageParams {
    sessionId: string;
}

/** Tokens by model, and their price. Subagents, the classifier and compaction count. */
export interface UsageReport {
    /** By model, in the order of their names. */
    models: ModelUsage[];
    /** US dollars of the models whose price is known; missing if there is none. */
    cost?: number | null;
    /** Models that were used and whose price nobody knows; they are not in `cost`. */
    unpriced?: string[];
    /** Tokens that fill the window; 0 before the first answer. */
    used: number;
    /** Tokens of the window; 0 where it is not known. */
    size: number;
    /** The same for a person, in lines. */
    text: string;
}

/** What one model was asked and answered. The parts of tokens are disjoint. */
export interface ModelUsage {
    /** As provider/model. */
    model: string;
    /** How often it answered. */
    answers: number;
    /** Tokens that were read and stood in no cache. */
    input: number;
    /** Tokens that were read from the provider's cache. */
    cached: number;
    /** Tokens that were read and put into it. */
    cacheWrite: number;
    /** Tokens that were written, thoughts aside. */
    output: number;
    /** Tokens that were written while thinking. */
    reasoning: number;
    /** US dollars; missing where the price is not known. */
    cost?: number | null;
}

/** Of which session. */
export interface ContextParams {
    sessionId: string;
}

/** What the next request would hold, in tokens. */
export interface ContextReport {
    /**
     * All of it: as the provider counted it last, with an estimate of what came since, or an estimate of
     * all.
     */
    used: number;
    /** The window; 0 where it is not known. */
    size: number;
    /** What is kept free of it for the answer. */
    reserve: number;
    /** From where on older history is summarised; missing where it is not by itself. */
    threshold?: number | null;
    /** What it consists of, in the order of the request; each an estimate. */
    parts: ContextPart[];
    /** The same for a person, in lines. */
    text: string;
}

/** One part of it. */
export interface ContextPart {
    part: Part;
    /** An estimate. */
    tokens: number;
}

/** What a part is. */
export type Part =
    | "skills" | "memory" | "pictures"
    | "system"
    | "instructions"
    | "tools"
    | "summary"
    | "user"
    | "told"
    | "answers"
    | "results";

/** A side question. It can be asked at any time, also while a turn runs. */
export interface BtwParams {
    sessionId: string;
    question: string;
    /** Names the question in `undine/btw/chunk`; without one no chunks are sent. */
    token?: string | null;
}

/** The answer, whole. Where there is none, the request fails. */
export interface BtwResult {
    text: string;
    /** Tools that the model called; none of them was run. */
    called?: string[];
}

/** Forgets what was asked beside a session. */
export interface ClearBtwParams {
    sessionId: string;
}

/** Done. */
export type ClearBtwResult = Record<string, never>;

export interface CancelNotification {
    sessionId: SessionId;
    _meta?: Record<string, unknown> | null;
}

export interface RequestPermissionRequest {
    sessionId: SessionId;
    toolCall: ToolCallUpdate;
    options: PermissionOption[];
    _meta?: Record<string, unknown> | null;
}

export interface PermissionOption {
    optionId: PermissionOptionId;
    name: string;
    kind: PermissionOptionKind;
    _meta?: Record<string, unknown> | null;
}

export type PermissionOptionId = string;

export type PermissionOptionKind =
    | "allow_once"
    | "allow_always"
    | "reject_once"
    | "reject_always";

export interface RequestPermissionResponse {
    outcome: RequestPermissionOutcome;
    _meta?: Record<string, unknown> | null;
}

export type RequestPermissionOutcome =
    | { outcome: "cancelled" }
    | ({ outcome: "selected" } & SelectedPermissionOutcome);

export interface SelectedPermissionOutcome {
    optionId: PermissionOptionId;
    _meta?: Record<string, unknown> | null;
}

export type CreateElicitationRequest = {
    message: string;
    _meta?: Record<string, unknown> | null;
} & (({ mode: "form" } & ElicitationFormMode) | ({ mode: "url" } & ElicitationUrlMode));

export interface ElicitationSessionScope {
    sessionId: SessionId;
    toolCallId?: ToolCallId | null;
}

export interface ElicitationRequestScope {
    requestId: RequestId;
}

export type RequestId =
    | null
    | number
    | string;

export interface ElicitationSchema {
    type?: ElicitationSchemaType;
    title?: string | null;
    properties?: Record<string, ElicitationPropertySchema>;
    required?: string[] | null;
    description?: string | null;
    _meta?: Record<string, unknown> | null;
}

export type ElicitationSchemaType = "object";

export type ElicitationPropertySchema =
    | ({ type: "string" } & StringPropertySchema)
    | ({ type: "number" } & NumberPropertySchema)
    | ({ type: "integer" } & IntegerPropertySchema)
    | ({ type: "boolean" } & BooleanPropertySchema)
    | ({ type: "array" } & MultiSelectPropertySchema);

export type StringFormat =
    | "email"
    | "uri"
    | "date"
    | "date-time";

export interface EnumOption {
    const: string;
    title: string;
    description?: string | null;
    _meta?: Record<string, unknown> | null;
}

export interface StringPropertySchema {
    title?: string | null;
    description?: string | null;
    minLength?: number | null;
    maxLength?: number | null;
    pattern?: string | null;
    format?: StringFormat | null;
    default?: string | null;
    enum?: string[] | null;
    oneOf?: EnumOption[] | null;
    _meta?: Record<string, unknown> | null;
}

export interface NumberPropertySchema {
    title?: string | null;
    description?: string | null;
    minimum?: number | null;
    maximum?: number | null;
    default?: number | null;
    _meta?: Record<string, unknown> | null;
}

export interface IntegerPropertySchema {
    title?: string | null;
    description?: string | null;
    minimum?: number | null;
    maximum?: number | null;
    default?: number | null;
    _meta?: Record<string, unknown> | null;
}

export interface BooleanPropertySchema {
    title?: string | null;
    description?: string | null;
    default?: boolean | null;
    _meta?: Record<string, unknown> | null;
}

export type MultiSelectItems =
    | ({ type: "string" } & StringMultiSelectItems)
    | TitledMultiSelectItems;

export interface StringMultiSelectItems {
    enum: string[];
    _meta?: Record<string, unknown> | null;
}

export interface TitledMultiSelectItems {
    anyOf: EnumOption[];
    _meta?: Record<string, unknown> | null;
}

export interface MultiSelectPropertySchema {
    title?: string | null;
    description?: string | null;
    minItems?: number | null;
    maxItems?: number | null;
    items: MultiSelectItems;
    default?: string[] | null;
    _meta?: Record<string, unknown> | null;
}

export type ElicitationFormMode = {
    requestedSchema: ElicitationSchema;
} & (ElicitationSessionScope | ElicitationRequestScope);

export type ElicitationId = string;

export type ElicitationUrlMode = {
    elicitationId: ElicitationId;
    url: string;
} & (ElicitationSessionScope | ElicitationRequestScope);

export type CreateElicitationResponse = {
    _meta?: Record<string, unknown> | null;
} & (({ action: "accept" } & ElicitationAcceptAction) | { action: "decline" } | { action: "cancel" });

export type ElicitationContentValue =
    | string
    | number
    | boolean
    | string[];

export interface ElicitationAcceptAction {
    content?: Record<string, ElicitationContentValue> | null;
}

/** Asks the editor to save one open document. */
export interface SaveDocumentParams {
    /** The document, spelled as the editor opened it. */
    uri: string;
}

/** Whether the document's text is on disk now. */
export interface SaveDocumentResult {
    saved: boolean;
}

/** Asks what the person has selected. */
export type SelectionParams = Record<string, never>;

/** The selection of the window that was a file's last. */
export interface SelectionResult {
    /** Missing where nothing is selected. */
    selection?: EditorSelection | null;
}

/** A selected text. */
export interface EditorSelection {
    uri: string;
    /** First and last line, counted from 1. */
    lines: unknown[];
    text: string;
}

/** Asks for the problems that the editor shows. */
export interface DiagnosticsParams {
    /** The document, spelled as the editor opened it; all files that have problems, if missing. */
    uri?: string | null;
    /** Wait until there are those of this version of the document, and then answer at once. */
    version?: number | null;
    /** The longest wait, milliseconds. What there is by then is no answer for the version. */
    waitMs?: number | null;
}

/**
 * Problems by file. Where a version was asked for and its problems are not known, its document is not
 * among them.
 */
export interface DiagnosticsResult {
    files: FileProblems[];
}

/** The problems of one file. */
export interface FileProblems {
    uri: string;
    /** The document's version that they are of. */
    version?: number | null;
    problems: Problem[];
}

/** One problem. The server's own diagnostics are none. */
export interface Problem {
    /** Counted from 1. */
    line: number;
    /** As LSP counts: 1 error, 2 warning, 3 information, 4 hint. */
    severity: number;
    message: string;
    /** Who found it. */
    source?: string | null;
}

/** Asks where the workspace's symbols of a name are. */
export interface SymbolsParams {
    query: string;
}

/** The symbols, best first. */
export interface SymbolsResult {
    symbols: FoundSymbol[];
}

/** A symbol and its place. */
export interface FoundSymbol {
    name: string;
    uri: string;
    /** First and last line of its definition, counted from 1. */
    lines: unknown[];
}

export interface SessionNotification {
    sessionId: SessionId;
    update: SessionUpdate;
    _meta?: Record<string, unknown> | null;
}

/** Whether a session's model is being asked again. Each takes the place of the one before. */
export interface RetryParams {
    sessionId: string;
    /** Missing: it is not, or not any more. */
    retry?: Retry | null;
}

/** Why and when a model is asked again. */
export interface Retry {
    /** What happened, in a sentence for the person. */
    why: string;
    /** Which try of `of` this is, counted from 1. */
    attempt: number;
    of: number;
    /** Milliseconds until then; 0: it is being asked already, without what it refused. */
    afterMs: number;
}

/** A piece of the answer, in order. */
export interface BtwChunk {
    sessionId: string;
    token: string;
    text: string;
}

/**
 * Lines of a proposed change, in `toolCall._meta.undine.hunks` of a `session/request_permission`. The
 * answer's `_meta.undine.acceptedHunks` names the ids of those that the person wants made.
 */
export interface ProposedHunk {
    /** Names it within its question. */
    id: string;
    uri: string;
    /** The lines of the text as it is that would go, whole lines; empty where lines only come in. */
    range: unknown;
    /** Those lines, with their endings. */
    removed: string;
    /** The lines that would come in their place, with their endings. */
    added: string;
}
