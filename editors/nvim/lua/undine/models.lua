--- Which model answers in the shown session, and how hard it thinks.
local client_of = require("undine.client")
local state = require("undine.state")

local M = {}

---@param text string
---@param level? integer
local function tell(text, level)
  vim.notify("Undine: " .. text, level or vim.log.levels.INFO)
end

--- The session that is shown, and its client; says so when there is none.
---@return undine.Session?, vim.lsp.Client?
local function shown()
  local session = state.shown()
  local client = session and client_of.of(session)
  if not session or not client then
    tell("there is no session yet; :Undine starts one.", vim.log.levels.WARN)
    return nil, nil
  end
  return session, client
end

---@param client vim.lsp.Client
---@param session undine.Session
---@param id string
---@param value string
local function set(client, session, id, value)
  local params = { sessionId = session.id, configId = id, value = value }
  client:request("session/set_config_option", params, function(err, result)
    if err then
      tell(client_of.error_line(err), vim.log.levels.WARN)
      return
    end
    session.options = result.configOptions
    tell(("%s is %s from the next answer on."):format(id, M.current(session, id) or value))
    require("undine.chat").schedule_draw()
  end)
end

--- One of the session's options, by its id. Pure.
---@param session undine.Session
---@param id string
---@return table?
local function option(session, id)
  return vim.iter(session.options or {}):find(function(it)
    return it.id == id
  end)
end

--- What an option is set to now. Pure.
---@param session undine.Session
---@param id string
---@return string?
function M.current(session, id)
  local found = option(session, id)
  return found and found.currentValue
end

---@param tokens integer
---@return string
local function short(tokens)
  if tokens >= 1e6 then
    return ("%gM"):format(math.floor(tokens / 1e5) / 10)
  end
  return ("%dk"):format(math.floor(tokens / 1000))
end

--- A model in one line. Pure.
---@param it agent.ListedModel
---@return string
function M.line(it)
  local words = { it.id }
  if it.window then
    table.insert(words, short(it.window) .. " tokens")
  end
  if it.price then
    local is_free = it.price.input == 0 and it.price.output == 0
    table.insert(
      words,
      is_free and "free" or ("$%g in, $%g out a million"):format(it.price.input, it.price.output)
    )
  end
  return table.concat(words, "  ")
end

--- What can be chosen: aliases, then the models of the providers that can be used. Pure.
---@param list agent.ModelList
---@return { value: string, text: string }[]
function M.choices(list)
  local choices = {}
  for _, it in ipairs(list.aliases) do
    if it.model then
      table.insert(choices, { value = it.name, text = ("%s  (%s)"):format(it.name, it.model) })
    end
  end
  for _, provider in ipairs(list.providers) do
    if provider.key.source ~= "none" or not provider.key.needed then
      for _, it in ipairs(provider.models) do
        table.insert(choices, { value = it.id, text = M.line(it) })
      end
    end
  end
  return choices
end

--- Lets another model answer, or asks which.
---@param name string provider/model or an alias; may be empty
function M.model(name)
  local session, client = shown()
  if not session or not client then
    return
  end
  if name ~= "" then
    set(client, session, "model", name)
    return
  end
  client:request("undine/models", { sessionId = session.id }, function(err, list)
    if err then
      tell(client_of.error_line(err), vim.log.levels.WARN)
      return
    end
    for _, provider in ipairs(list.providers) do
      if provider.problem then
        tell(provider.problem, vim.log.levels.WARN)
      end
    end
    local choices = M.choices(list)
    if #choices == 0 then
      tell("no provider has a key; :checkhealth undine says more.", vim.log.levels.WARN)
      return
    end
    vim.ui.select(choices, {
      prompt = "Which model answers?",
      format_item = function(it)
        return it.text .. (it.value == list.current and " (now)" or "")
      end,
    }, function(choice)
      if choice then
        set(client, session, "model", choice.value)
      end
    end)
  end)
end

--- Sets how hard the model thinks, or asks how hard.
---@param level string may be empty
function M.reasoning(level)
  local session, client = shown()
  if not session or not client then
    return
  end
  if level ~= "" then
    set(client, session, "reasoning", level)
    return
  end
  local found = option(session, "reasoning")
  if not found then
    tell("this server does not say how hard its model can think.", vim.log.levels.WARN)
    return
  end
  vim.ui.select(found.options, {
    prompt = "How hard does the model think?",
    format_item = function(it)
      return it.name .. (it.value == found.currentValue and " (now)" or "")
    end,
  }, function(choice)
    if choice then
      set(client, session, "reasoning", choice.value)
    end
  end)
end

--- Sets how the agent writes, or asks how.
---@param name string may be empty
function M.style(name)
  local session, client = shown()
  if not session or not client then
    return
  end
  if name ~= "" then
    set(client, session, "output_style", name)
    return
  end
  local found = option(session, "output_style")
  if not found then
    tell("this server does not know output styles.", vim.log.levels.WARN)
    return
  end
  vim.ui.select(found.options, {
    prompt = "How does the agent write?",
    format_item = function(it)
      local now = it.value == found.currentValue and " (now)" or ""
      local has_more = type(it.description) == "string" and it.description ~= ""
      return (has_more and ("%s: %s"):format(it.name, it.description) or it.name) .. now
    end,
  }, function(choice)
    if choice then
      set(client, session, "output_style", choice.value)
    end
  end)
end

--- The values of an option that begin so.
---@param id string
---@param lead string
---@return string[]
function M.complete(id, lead)
  local session = state.shown()
  local found = session and option(session, id)
  return vim
    .iter(found and found.options or {})
    :map(function(it)
      return it.value
    end)
    :filter(function(it)
      return vim.startswith(it, lead)
    end)
    :totable()
end

return M
