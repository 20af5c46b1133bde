--- Keys in a file while a proposed change to it waits, and what the file says of them. They stand in for what was mapped
--- there, which comes back.
local config = require("undine.config")

local M = {}

---@param pairs_of [string|false, string][] keys with what they do
---@return string
local function named(pairs_of)
  local words = {}
  for _, it in ipairs(pairs_of) do
    if it[1] then
      table.insert(words, ("%s %s"):format(it[1], it[2]))
    end
  end
  return table.concat(words, ", ")
end

--- What the first place says of the keys for the change, and the others of those for one place.
---@param is_choice boolean whether places may be chosen by themselves
---@return string hint
---@return string? choice_hint
function M.hints(is_choice)
  local keys = config.get().keys
  local hint =
    named({ { keys.accept, "accept" }, { keys.reject, "reject" }, { keys.next_hunk, "next" } })
  local choice = named({ { keys.accept_hunk, "take it" }, { keys.reject_hunk, "leave it out" } })
  return hint, is_choice and choice or nil
end

--- Sets a key of the buffer and returns how to take it back, to what stood there before.
---@param buf integer
---@param key string
---@param run fun()
---@param desc string
---@return fun() undo
local function borrow_key(buf, key, run, desc)
  local before = vim.api.nvim_buf_call(buf, function()
    return vim.fn.maparg(key, "n", false, true)
  end)
  vim.keymap.set("n", key, run, { buffer = buf, nowait = true, desc = "Undine: " .. desc })
  return function()
    pcall(vim.keymap.del, "n", key, { buffer = buf })
    if before.buffer == 1 then
      vim.api.nvim_buf_call(buf, function()
        vim.fn.mapset("n", false, before)
      end)
    end
  end
end

---@param buf integer
---@param is_choice boolean whether places may be chosen by themselves
---@return (fun())[] undo
function M.set(buf, is_choice)
  local approvals = require("undine.approvals")
  local keys = config.get().keys
  local wanted = {
    {
      keys.accept,
      "accept the change",
      function()
        approvals.accept("")
      end,
    },
    {
      keys.accept_session,
      "accept, and all like it in this session",
      function()
        approvals.accept("session")
      end,
    },
    {
      keys.reject,
      "reject the change",
      function()
        approvals.reject("")
      end,
    },
    {
      keys.next_hunk,
      "next changed place",
      function()
        require("undine.review").jump(1)
      end,
    },
    {
      keys.prev_hunk,
      "previous changed place",
      function()
        require("undine.review").jump(-1)
      end,
    },
  }
  if is_choice then
    local function choose(is_accepted)
      return function()
        require("undine.review").choose(is_accepted)
      end
    end
    table.insert(wanted, { keys.accept_hunk, "choose this place", choose(true) })
    table.insert(wanted, { keys.reject_hunk, "leave this place out", choose(false) })
  end
  local undo = {}
  for _, it in ipairs(wanted) do
    if it[1] then
      table.insert(undo, borrow_key(buf, it[1], it[3], it[2]))
    end
  end
  return undo
end

return M
