--- What was answered so that it is not asked again: listed, and taken back.
local client_of = require("undine.client")
local state = require("undine.state")

local M = {}

---@param text string
---@param level? integer
local function tell(text, level)
  vim.notify("Undine: " .. text, level or vim.log.levels.INFO)
end

--- A remembered answer in one line. Pure.
---@param it agent.RememberedRule
---@return string
function M.line(it)
  local scope = it.scope == "session" and "in this session"
    or it.everywhere and "always, in every project"
    or "always in this project"
  return ("%s  (%s)"):format(it.text, scope)
end

--- Lists what the shown session does not ask about again; the one that is chosen is asked about again.
function M.pick()
  local session = state.shown()
  local client = session and client_of.of(session)
  if not session or not client then
    tell("there is no session yet; :Undine starts one.", vim.log.levels.WARN)
    return
  end
  local function request(method, params, run)
    params.sessionId = session.id
    client:request(method, params, function(err, result)
      if err then
        tell(client_of.error_line(err), vim.log.levels.WARN)
        return
      end
      run(result)
    end)
  end
  request("undine/permission/rules", {}, function(list)
    if #list.rules == 0 then
      tell(("nothing is remembered here; answers for always would stand in %s."):format(list.file))
      return
    end
    vim.ui.select(list.rules, {
      prompt = ("Take which answer back? (those for always: %s)"):format(list.file),
      format_item = M.line,
    }, function(it)
      if it then
        request("undine/permission/forget", { id = it.id }, function()
          tell("this is asked about again: " .. it.text)
        end)
      end
    end)
  end)
end

return M
