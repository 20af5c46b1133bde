--- The sessions of a project: choosing one to load, rename or remove; going on in a new one; earlier prompts.
local client_of = require("undine.client")
local session_of = require("undine.session")
local state = require("undine.state")

local M = {}

---@param text string
---@param level? integer
local function tell(text, level)
  vim.notify("Undine: " .. text, level or vim.log.levels.WARN)
end

--- Puts a text into the prompt to be written on. A draft that stands there stays.
---@param text string
---@param is_wanted? boolean in the place of a draft, too
local function fill(text, is_wanted)
  local view = state.view
  if not view or not vim.api.nvim_buf_is_valid(view.prompt) then
    return
  end
  local lines = vim.api.nvim_buf_get_lines(view.prompt, 0, -1, false)
  if is_wanted or vim.trim(table.concat(lines, "\n")) == "" then
    vim.api.nvim_buf_set_lines(view.prompt, 0, -1, false, vim.split(text, "\n"))
  end
end

--- Opens the session that the answer to a prompt such as `/rewind` names, and gives back what was written there.
---@param client vim.lsp.Client
---@param result table the answer to `session/prompt`
function M.follow(client, result)
  local beside = type(result._meta) == "table" and result._meta.undine
  local new = type(beside) == "table" and beside.session
  if type(new) ~= "table" then
    return
  end
  session_of.load(client, { sessionId = new.sessionId, cwd = new.cwd }, function()
    if type(new.prompt) == "string" then
      fill(new.prompt)
    end
  end)
end

--- Pure but for the time zone.
---@param stamp string|vim.NIL|nil a time of UTC as in ISO 8601
---@return string time to the minute, as the clock here shows it
function M.local_time(stamp)
  local fields = type(stamp) == "string" and { stamp:match("^(%d+)-(%d+)-(%d+)T(%d+):(%d+).*Z$") }
  if not fields or #fields == 0 then
    return ""
  end
  local year, month, day, hour, min = unpack(vim.tbl_map(tonumber, fields))
  -- `os.time` takes what it gets for the time here; what UTC says at that moment tells how far that is off.
  local here = { year = year, month = month, day = day, hour = hour, min = min, isdst = false }
  local at = os.time(here)
  local there = os.date("!*t", at) --[[@as osdate]]
  there.isdst = false
  return os.date("%Y-%m-%d %H:%M", at + os.difftime(at, os.time(there))) --[[@as string]]
end

---@param client vim.lsp.Client
---@param info table a session as `session/list` names it
local function rename(client, info)
  vim.ui.input({ prompt = "Title: ", default = info.title }, function(title)
    if not title or vim.trim(title) == "" then
      return
    end
    local params = { sessionId = info.sessionId, cwd = info.cwd, title = title }
    client:request("undine/session/rename", params, function(err, result)
      if err then
        tell(client_of.error_line(err))
        return
      end
      local session = state.sessions[info.sessionId]
      if session then
        session.title = result.title
      end
      tell(("the session is called %s."):format(result.title), vim.log.levels.INFO)
    end)
  end)
end

---@param client vim.lsp.Client
---@param info table a session as `session/list` names it
local function remove(client, info)
  vim.ui.select({ false, true }, {
    prompt = ("Remove %s for good?"):format(info.title or info.sessionId),
    format_item = function(is_yes)
      return is_yes and "Yes, remove" or "No"
    end,
  }, function(is_yes)
    if not is_yes then
      return
    end
    local params = { sessionId = info.sessionId, _meta = { undine = { cwd = info.cwd } } }
    client:request("session/delete", params, function(err)
      if err then
        tell(client_of.error_line(err))
        return
      end
      local entry = state.clients[client.id]
      if entry and entry.session == info.sessionId then
        entry.session = nil
      end
      state.sessions[info.sessionId] = nil
      require("undine.chat").schedule_draw()
      tell("the session is removed.", vim.log.levels.INFO)
    end)
  end)
end

local actions = {
  load = { run = session_of.load, prompt = "Load which session?" },
  rename = { run = rename, prompt = "Rename which session?" },
  delete = { run = remove, prompt = "Remove which session?" },
}

---@param it table a session, or the way to older ones
---@return string
local function line(it)
  if it.cursor then
    return "older ones"
  end
  return ("%s  %s"):format(M.local_time(it.updatedAt), it.title or it.sessionId)
end

--- Shows a page of the list; the one chosen is loaded, renamed or removed.
---@param client vim.lsp.Client
---@param root string
---@param action table
---@param cursor? string
local function choose(client, root, action, cursor)
  client:request("session/list", { cwd = root, cursor = cursor }, function(err, result)
    if err then
      tell(client_of.error_line(err))
      return
    end
    local items = vim.list_slice(result.sessions)
    if #items == 0 then
      tell("there is no earlier session here.")
      return
    end
    if type(result.nextCursor) == "string" then
      table.insert(items, { cursor = result.nextCursor })
    end
    vim.ui.select(items, { prompt = action.prompt, format_item = line }, function(it)
      if it and it.cursor then
        choose(client, root, action, it.cursor)
      elseif it then
        action.run(client, it)
      end
    end)
  end)
end

--- Lists the sessions of this root, to load, rename or remove one.
---@param what string `rename`, `delete`, or empty
function M.pick(what)
  local action = actions[what ~= "" and what or "load"]
  if not action then
    tell(("%s is nothing to do with a session; write rename or delete."):format(what))
    return
  end
  local root = client_of.root(vim.api.nvim_get_current_buf())
  client_of.with(root, function(client)
    if client then
      choose(client, root, action)
    end
  end)
end

---@param lead string
---@return string[]
function M.complete(lead)
  return vim
    .iter({ "rename", "delete" })
    :filter(function(it)
      return vim.startswith(it, lead)
    end)
    :totable()
end

--- Asks for words and puts the earlier prompt that is chosen in the place of the draft.
function M.earlier()
  local view = state.view
  local session = state.shown()
  local client = session and client_of.of(session)
  if not view or not session or not client then
    tell("there is no session yet; :Undine starts one.")
    return
  end
  vim.ui.input({ prompt = "Earlier prompts with: " }, function(words)
    if not words then
      return
    end
    local params = { cwd = session.cwd, sessionId = session.id, words = words }
    client:request("undine/prompts", params, function(err, result)
      if err then
        tell(client_of.error_line(err))
        return
      end
      if #result.prompts == 0 then
        tell("no earlier prompt has these words.")
        return
      end
      vim.ui.select(result.prompts, {
        prompt = "Write which prompt again?",
        format_item = function(it)
          return (it.text:gsub("%s+", " "))
        end,
      }, function(it)
        if it then
          fill(it.text, true)
        end
      end)
    end)
  end)
end

return M
