--- All that changes while the plugin runs, reached by id.
---
--- What belongs to a buffer leaves with `BufWipeout`; what belongs to a client leaves when it ends.
local M = {}

---@class undine.Client
---@field id integer
---@field ready boolean whether `initialize` was answered
---@field has_agent boolean whether the answer named agent methods
---@field waiting (fun(client?: vim.lsp.Client))[] what runs once it is ready, or with nil when it ends before
---@field session? string the session shown for this client's root
---@field on_session? (fun(session?: undine.Session))[] what runs once `session/new` is answered

---@class undine.Session
---@field id string
---@field client_id integer
---@field cwd string
---@field title? string
---@field items undine.Item[] the transcript, oldest first
---@field calls table<string, integer> tool call id to its place in `items`
---@field plan? integer the newest plan's place in `items`
---@field n_running integer prompts that are not answered yet
---@field modes undine.Mode[]
---@field mode? string
---@field options? table[] its model and how hard that thinks, as ACP's config options
---@field usage? { used: integer, size: integer, cost?: string }
---@field commands { name: string, description: string }[]
---@field asides? undine.Aside[] questions beside it, oldest first
---@field retry? { retry: agent.Retry, at: number } that the model is asked again, and when by `vim.uv.now()`

---@class undine.Mode
---@field id string
---@field name string

---@class undine.Proposal one file of a change that waits, as it is shown in a buffer
---@field ask undine.Ask
---@field path string
---@field is_new boolean whether the buffer is ours, made for a file that does not exist
---@field new_text string
---@field old_text? string what it was made on
---@field given table[] the places that the server lets one choose from
---@field hunks undine.Hunk[] as they are drawn
---@field anchors integer[] the extmark of each hunk to which one jumps
---@field undo_keys (fun())[] take the buffer's keys away again

---@class undine.Change one file with changes of the agent that nobody has judged
---@field client_id integer
---@field path string
---@field file agent.ReviewFile as the server told it last
---@field is_asked boolean whether the server will be, or is, asked for it again

---@class undine.Drawn what a buffer shows of its changes
---@field change undine.Change
---@field hunks undine.DrawnHunk[] in the order of the text
---@field top? integer the extmark that tells what was done to the file as a whole
---@field undo_keys (fun())[] take the buffer's keys away again

---@class undine.DrawnHunk
---@field hunk agent.ReviewHunk
---@field n_lines integer of the text as it is
---@field look string what it was drawn from; the same look at the same place is not drawn again
---@field id integer the extmark over its lines
---@field others integer[] further extmarks

---@class undine.View the chat's buffers, and how it was last drawn
---@field session? string
---@field root string
---@field transcript integer
---@field prompt integer
---@field lines string[]
---@field owners table<integer, integer> row (0-based) to the place in the session's `items`
---@field cache table<undine.Item, { rev: integer, lines: string[], marks: undine.Mark[] }>
---@field drawn_at number milliseconds of `vim.uv.now` at the last drawing
---@field is_due boolean whether a drawing is already on its way
---@field is_sending boolean whether a prompt waits for the server to start

---@type undine.Options?
M.options = nil
---@type table<integer, undine.Client>
M.clients = {}
---@type table<string, undine.Session>
M.sessions = {}
---@type undine.Ask[] oldest first; the first one is presented
M.asks = {}
---@type table<integer, undine.Proposal> by buffer
M.proposals = {}
---@type table<string, undine.Change> by client and URI
M.changes = {}
---@type table<integer, undine.Drawn> by buffer
M.drawn = {}
---@type table<string, true> ids of hunks whose revert waits for the running turn
M.queued = {}
---@type integer? the quickfix list that shows the changes
M.quickfix = nil
---@type { tab: integer, base: integer, live: integer, key: string, path: string }? the tab page with a file's accepted text beside the live one
M.diff = nil
---@type table<integer, true> buffers with a carriage return within a line, of which the server gets whole texts
M.whole = {}
---@type undine.View?
M.view = nil
---@type { win: integer, buf: integer, ask: undine.Ask }?
M.panel = nil
---@type undine.BtwView the window of side questions
M.btw = { at = 0, n_asked = 0 }

---@type table<string, undine.FileNames> by root
M.file_names = {}

--- Extmarks of everything stand in this one namespace,
M.ns = vim.api.nvim_create_namespace("undine")
--- but for those of changes: a proposal in the same buffer clears all of its own at once.
M.changes_ns = vim.api.nvim_create_namespace("undine.changes")

--- The session with this id, made when it is not known yet: updates may come before the answer that names it.
---@param id string
---@param client_id integer
---@return undine.Session
function M.session(id, client_id)
  local session = M.sessions[id]
  if not session then
    session = {
      id = id,
      client_id = client_id,
      cwd = "",
      items = {},
      calls = {},
      n_running = 0,
      modes = {},
      commands = {},
    }
    M.sessions[id] = session
  end
  return session
end

---@return undine.Session? session the one the chat shows
function M.shown()
  return M.view and M.view.session and M.sessions[M.view.session] or nil
end

--- Calls `done` once when the buffer is wiped out.
---@param buf integer
---@param done fun()
function M.on_wipeout(buf, done)
  vim.api.nvim_create_autocmd("BufWipeout", { buffer = buf, once = true, callback = done })
end

return M
