--- What files were before something changed them: made by hand, listed, given back after a question.
local client_of = require("undine.client")
local state = require("undine.state")

local M = {}

---@param text string
---@param level? integer
local function tell(text, level)
  vim.notify("Undine: " .. text, level or vim.log.levels.INFO)
end

--- Sends a request about checkpoints of the session that is shown; an error is told.
---@param method string
---@param params table
---@param run fun(result: table)
local function request(method, params, run)
  local session = state.shown()
  local client = session and client_of.of(session)
  if not session or not client then
    tell("there is no session yet; :Undine starts one.", vim.log.levels.WARN)
    return
  end
  params.sessionId = session.id
  client:request(method, params, function(err, result)
    if err then
      tell(client_of.error_line(err), vim.log.levels.WARN)
      return
    end
    run(result)
  end)
end

---@param n integer
---@return string
local function files(n)
  return n == 1 and "1 file" or ("%d files"):format(n)
end

--- A checkpoint in one line. Pure but for the time zone.
---@param it agent.Checkpoint
---@return string
function M.line(it)
  local time = os.date("%Y-%m-%d %H:%M", math.floor(it.time / 1000))
  return ("%s  %s  (%s)"):format(time, it.title, files(#it.files))
end

--- What a restore will do, as a question. Pure.
---@param it agent.Checkpoint
---@return string
function M.question(it)
  local kept, gone = {}, {}
  for _, file in ipairs(it.files) do
    table.insert(file.existed and kept or gone, file.path)
  end
  local function named(paths)
    local n_more = #paths - 3
    local text = table.concat(vim.list_slice(paths, 1, 3), ", ")
    return n_more > 0 and ("%s and %d more"):format(text, n_more) or text
  end
  local words = {}
  if #kept > 0 then
    table.insert(words, ("give back what %s %s"):format(named(kept), #kept == 1 and "was" or "were"))
  end
  if #gone > 0 then
    table.insert(words, ("remove %s, which did not exist"):format(named(gone)))
  end
  local text = table.concat(words, ", and ")
  return #words > 0 and text:sub(1, 1):upper() .. text:sub(2) .. "?" or "Restore nothing?"
end

--- What a restore has done, in one line. Pure.
---@param result agent.RestoreCheckpointResult
---@return string
function M.outcome(result)
  local words = { ("restored %s"):format(files(#result.restored)) }
  if #result.removed > 0 then
    table.insert(words, ("removed %s"):format(files(#result.removed)))
  end
  for _, it in ipairs(result.skipped) do
    table.insert(words, ("passed over %s: %s"):format(it.path, it.reason))
  end
  return table.concat(words, ", ") .. ". :UndineCheckpoints has what was before."
end

---@param it agent.Checkpoint
local function ask_and_restore(it)
  vim.ui.select({ true, false }, {
    prompt = M.question(it),
    format_item = function(is_yes)
      return is_yes and "Yes, restore" or "No"
    end,
  }, function(is_yes)
    if not is_yes then
      return
    end
    request("undine/checkpoint/restore", { id = it.id }, function(result)
      tell(M.outcome(result))
      vim.cmd.checktime()
    end)
  end)
end

--- Lists the checkpoints of the project; the one that is chosen is restored after a question.
function M.pick()
  request("undine/checkpoint/list", {}, function(result)
    if #result.checkpoints == 0 then
      tell("there is no checkpoint yet.")
      return
    end
    vim.ui.select(result.checkpoints, {
      prompt = "Restore which checkpoint?",
      format_item = M.line,
    }, function(it)
      if it then
        ask_and_restore(it)
      end
    end)
  end)
end

--- Makes a checkpoint of these files, or of the current one.
---@param paths string[]
function M.create(paths)
  if #paths == 0 then
    local name = vim.api.nvim_buf_get_name(0)
    if name == "" or vim.bo.buftype ~= "" then
      tell("name the files to make a checkpoint of.", vim.log.levels.WARN)
      return
    end
    paths = { name }
  end
  local absolute = vim.tbl_map(function(it)
    return vim.fn.fnamemodify(it, ":p")
  end, paths)
  request("undine/checkpoint/create", { paths = absolute }, function(result)
    tell(("made a checkpoint of %s."):format(files(#result.checkpoint.files)))
  end)
end

return M
