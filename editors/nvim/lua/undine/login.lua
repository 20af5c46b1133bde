--- Providers' keys: typed without being shown, handed to the server, which keeps them in the system's keyring.
local client_of = require("undine.client")
local state = require("undine.state")

local M = {}

---@param text string
---@param level? integer
local function tell(text, level)
  vim.notify("Undine: " .. text, level or vim.log.levels.INFO)
end

--- Sends something that no log may hold. Neovim's own log takes a message in while it is sent, and not later.
---@param send fun()
local function unlogged(send)
  local log = vim.lsp.log
  local level = log.get_level()
  log.set_level(vim.log.levels.OFF)
  -- The text of an error may quote what was sent.
  local ok = pcall(send)
  log.set_level(level)
  if not ok then
    tell("this could not be sent to the server; see :checkhealth undine.", vim.log.levels.ERROR)
  end
end

---@param method string
---@param params table
---@param run fun(result: table)
local function request(method, params, run)
  client_of.with(client_of.root(vim.api.nvim_get_current_buf()), function(client)
    if not client then
      return
    end
    unlogged(function()
      client:request(method, params, function(err, result)
        if err then
          tell(client_of.error_line(err), vim.log.levels.WARN)
          return
        end
        run(result)
      end)
    end)
  end)
end

--- Where a provider's key is, in one line. Pure.
---@param it agent.ProviderKey
---@return string
function M.line(it)
  local where = it.source == "env" and ("from %s"):format(it.variable or "the environment")
    or it.source == "keyring" and "stored"
    or it.needed and "missing"
    or "needs none"
  return ("%s  (%s)"):format(it.provider, where)
end

--- Lets the person choose a provider, and tells why none of them has a stored key if that is so.
---@param prompt string
---@param fits fun(it: agent.ProviderKey): boolean
---@param run fun(provider: string)
local function choose(prompt, fits, run)
  request("undine/auth/status", {}, function(status)
    local found = vim.tbl_filter(fits, status.providers)
    if #found == 0 then
      tell(status.problem or "there is no such key.", vim.log.levels.WARN)
      return
    end
    vim.ui.select(found, { prompt = prompt, format_item = M.line }, function(it)
      if it then
        run(it.provider)
      end
    end)
  end)
end

---@param provider string
local function enter(provider)
  -- Ctrl-C in the input is an error.
  local ok, key = pcall(vim.fn.inputsecret, ("Key of %s (it is not shown): "):format(provider))
  if not ok or vim.trim(key) == "" then
    tell("nothing was stored.")
    return
  end
  request("undine/auth/set", { provider = provider, apiKey = key }, function(now)
    if now.source == "env" then
      local text = "the key of %s is stored, but %s comes first as long as it is set."
      tell(text:format(provider, now.variable), vim.log.levels.WARN)
    else
      tell(("the key of %s is stored and counts for the next request."):format(provider))
    end
  end)
end

--- Stores a provider's key; without a name it asks which.
---@param provider string may be empty
function M.login(provider)
  if provider ~= "" then
    enter(provider)
    return
  end
  choose("Store the key of which provider?", function(it)
    return it.storable
  end, enter)
end

--- Takes a provider's key out of the keyring; without a name it asks which.
---@param provider string may be empty
function M.logout(provider)
  local function clear(name)
    request("undine/auth/clear", { provider = name }, function(result)
      local text = result.removed and "the key of %s is no longer stored." or "no key of %s was stored."
      tell(text:format(name))
    end)
  end
  if provider ~= "" then
    clear(provider)
    return
  end
  choose("Forget the key of which provider?", function(it)
    return it.source == "keyring"
  end, clear)
end

--- How long a completion waits for the names, milliseconds.
local patience = 500

---@param lead string
---@return string[]
function M.complete(lead)
  local id = next(state.clients)
  local client = id and vim.lsp.get_client_by_id(id)
  local answer = client and client:request_sync("undine/auth/status", {}, patience)
  return vim
    .iter(answer and answer.result and answer.result.providers or {})
    :map(function(it)
      return it.provider
    end)
    :filter(function(it)
      return vim.startswith(it, lead)
    end)
    :totable()
end

return M
