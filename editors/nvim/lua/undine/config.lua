--- The options, what each may be, and one message for one that is wrong.
local state = require("undine.state")

local M = {}

---@class undine.Keys
---@field accept? string|false
---@field accept_session? string|false
---@field reject? string|false
---@field next_hunk? string|false
---@field prev_hunk? string|false
---@field accept_hunk? string|false
---@field reject_hunk? string|false
---@field next_change? string|false
---@field prev_change? string|false
---@field next_file? string|false
---@field prev_file? string|false
---@field keep_hunk? string|false
---@field revert_hunk? string|false
---@field keep_file? string|false
---@field revert_file? string|false
---@field send? string|false
---@field send_insert? string|false
---@field earlier? string|false
---@field complete? string|false
---@field detach? string|false
---@field stop? string|false
---@field toggle? string|false

---@class undine.ChatOptions
---@field position? "right"|"left"|"bottom"
---@field size? number
---@field prompt_height? integer

---@class undine.ChangesOptions
---@field signs? boolean
---@field removed_lines? integer

---@class undine.Options
---@field cmd? string[]|fun(dispatchers: table, config: table): table
---@field init_options? table
---@field root_markers? string[]
---@field chat? undine.ChatOptions
---@field show_proposals? boolean
---@field changes? undine.ChangesOptions
---@field keys? undine.Keys

---@type undine.Options
M.defaults = {
  -- How to start the server: a list of words, or a function as `vim.lsp.start` takes it.
  cmd = { "undine", "lsp" },
  -- The content of Undine's own config file, as a table; a layer of its own.
  init_options = {},
  -- A folder holding one of these is the root of the project; else the working directory.
  root_markers = { ".git" },
  chat = {
    -- Where the chat opens: "right", "left" or "bottom".
    position = "right",
    -- Its share of the screen's width (its height at the bottom), more than 0 and less than 1.
    size = 0.4,
    -- Lines of the window one writes in.
    prompt_height = 6,
  },
  -- Show a proposed change's file beside the chat when you are in the chat.
  show_proposals = true,
  -- How changes that were made and wait to be reviewed are shown in their files.
  changes = {
    -- Put signs beside the changed lines.
    signs = true,
    -- Of the lines that were removed, how many are shown above; what is left is counted.
    removed_lines = 12,
  },
  -- Keys inside Undine's own buffers, and in a file while a change to it waits. `false` sets none.
  keys = {
    -- Allow the change that is shown.
    accept = "<leader>ua",
    -- Allow it and do not ask again in this session.
    accept_session = "<leader>us",
    -- Refuse it; asks for a reason.
    reject = "<leader>ur",
    -- Choose this place of a proposed change.
    accept_hunk = "<leader>uy",
    -- Leave this place of it out.
    reject_hunk = "<leader>un",
    -- The next place of a proposed change.
    next_hunk = "]u",
    -- The one before.
    prev_hunk = "[u",
    -- The next change that was made and waits to be reviewed. This key and those that follow never cover a mapping
    -- of your own.
    next_change = "]h",
    -- The one before.
    prev_change = "[h",
    -- The next file with changes.
    next_file = "]H",
    -- The one before.
    prev_file = "[H",
    -- Keep the change at the cursor.
    keep_hunk = "<leader>uk",
    -- Revert it.
    revert_hunk = "<leader>ux",
    -- Keep all changes of the file.
    keep_file = "<leader>uK",
    -- Revert them.
    revert_file = "<leader>uX",
    -- Send the prompt, in normal mode.
    send = "<CR>",
    -- Send the prompt, in insert mode.
    send_insert = "<C-s>",
    -- Search what you wrote before, in the prompt, in normal mode.
    earlier = "<C-r>",
    -- Complete a command or a mention in the prompt, in insert mode. A mapping of your own stays.
    complete = "<Tab>",
    -- Move what the turn waits for to the background, in the prompt, in normal mode.
    detach = "<C-b>",
    -- Cancel the running turn, in the chat.
    stop = "<C-c>",
    -- Unfold or fold a thought or an output, in the chat.
    toggle = "za",
  },
}

--- What a value may be, by the option's full name, where its type does not say it.
local allowed = {
  ["cmd"] = {
    says = "a list of strings or a function",
    test = function(value)
      return type(value) == "function" or (vim.islist(value) and #value > 0)
    end,
  },
  ["chat.position"] = {
    says = '"right", "left" or "bottom"',
    test = function(value)
      return vim.list_contains({ "right", "left", "bottom" }, value)
    end,
  },
  ["chat.size"] = {
    says = "a number more than 0 and less than 1",
    test = function(value)
      return type(value) == "number" and value > 0 and value < 1
    end,
  },
  ["changes.removed_lines"] = {
    says = "a whole number of at least 1",
    test = function(value)
      return type(value) == "number" and value >= 1 and value % 1 == 0
    end,
  },
  ["chat.prompt_height"] = {
    says = "a whole number of at least 1",
    test = function(value)
      return type(value) == "number" and value >= 1 and value % 1 == 0
    end,
  },
}

---@param name string
---@param value any
---@param default any
---@return string? says what would be right, when the value is wrong
local function wrong(name, value, default)
  local rule = allowed[name]
  if rule then
    return not rule.test(value) and rule.says or nil
  end
  if vim.startswith(name, "keys.") then
    return not (type(value) == "string" or value == false) and "a key or false" or nil
  end
  return type(value) ~= type(default) and ("a %s"):format(type(default)) or nil
end

--- A section whose names are fixed, as `chat` and `keys` are.
---@param default any
local function is_section(default)
  return type(default) == "table" and not vim.islist(default)
end

---@param given table
---@param defaults table
---@param prefix string
---@return string? problem the first wrong option: its name, what was found, what is possible
function M.check(given, defaults, prefix)
  local names = vim.tbl_keys(given)
  table.sort(names, function(a, b)
    return tostring(a) < tostring(b)
  end)
  for _, key in ipairs(names) do
    local name, value, default = prefix .. tostring(key), given[key], defaults[key]
    if default == nil then
      local known = vim.tbl_keys(defaults)
      table.sort(known)
      return ("`%s` is no option; there are: %s"):format(name, table.concat(known, ", "))
    end
    local says = wrong(name, value, default)
    if says then
      return ("`%s` is %s; it must be %s"):format(name, vim.inspect(value), says)
    end
    if is_section(default) then
      local problem = M.check(value, default, name .. ".")
      if problem then
        return problem
      end
    end
  end
end

--- Merges options over the defaults. A wrong one is told and nothing is taken over.
---@param options? undine.Options
function M.setup(options)
  local problem = M.check(options or {}, M.defaults, "")
  if problem then
    vim.notify("Undine: option " .. problem .. ".", vim.log.levels.ERROR)
    return
  end
  state.options = vim.tbl_deep_extend("force", M.defaults, options or {})
end

---@return undine.Options
function M.get()
  return state.options or M.defaults
end

return M
