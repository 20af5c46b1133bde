--- Completes commands and mentions in the prompt of the chat, when asked to.
local config = require("undine.config")
local state = require("undine.state")

local M = {}

--- The most files that are offered of one kind of match.
local most = 50

--- How long the first completion waits for the names of files, in milliseconds.
local wait_ms = 200

--- What can be mentioned besides files.
local words = {
  { "selection", "what was selected last in the file" },
  { "diagnostics", "the problems that are shown" },
  { "diff", "what has changed since the last commit" },
  { "symbol:", "where a symbol is; its name follows" },
}

--- Blanks beyond ASCII that end a word, too.
local blanks = {
  "\194[\133\160]",
  "\225\154\128",
  "\226\128[\128-\138\168\169\175]",
  "\226\129\159",
  "\227\128\128",
}

--- The mention that is being written at the end of a text, by the rules of the server.
---@param before string
---@return integer? from where its `@` stands, counted from 1
local function mention(before)
  local at = 1
  while true do
    local from = before:find("@", at, true)
    if not from then
      return nil
    end
    local is_begin = from == 1 or before:find("^[%s%(%[{\"'`,;]", from - 1)
    local is_quoted = before:sub(from + 1, from + 1) == '"'
    local last = is_quoted and before:find('"', from + 2, true)
    if not is_quoted then
      last = before:find("%s", from)
    end
    if is_begin and not last then
      return from
    end
    at = (is_begin and last or from) + 1
  end
end

--- Where the word begins that can be completed. Pure.
---@param before string the line up to the cursor
---@param is_first boolean whether nothing is written above that line
---@return integer? from counted from 1
function M.from(before, is_first)
  local slash = is_first and before:match("^%s*()/%S*$")
  return slash or mention(before)
end

--- A path as a mention; nil where it cannot be one. Pure.
---@param path string
---@return string?
function M.mention(path)
  local is_word = vim.iter(words):any(function(it)
    return path == it[1] or (it[1] == "symbol:" and vim.startswith(path, it[1]))
  end)
  local needs_quotes = is_word
    or path:find('^"')
    or path:find("%s")
    or path:find("[.,;:!?)%]}\"'`]$")
    or path:find(":%d+$")
    or path:find(":%d+%-%d+$")
    or vim.iter(blanks):any(function(it)
      return path:find(it) ~= nil
    end)
  if not needs_quotes then
    return "@" .. path
  end
  return not path:find('"', 1, true) and ('@"%s"'):format(path) or nil
end

--- The paths that match, the likeliest first: those in the folder that is written, those of this name anywhere, those
--- further down, those with this somewhere in them. Upper and lower case are alike. Pure.
---@param names string[]
---@param lead string
---@return string[]
function M.files(names, lead)
  lead = lead:lower()
  local ranks = { {}, {}, {}, {} }
  for _, name in ipairs(names) do
    local path = name:lower()
    local at = path:find(lead, 1, true)
    local rank
    if at == 1 then
      rank = path:find("/.", #lead + 1) and 3 or 1
    elseif at then
      rank = path:find("/" .. vim.pesc(lead) .. "[^/]*/?$") and 2 or 4
    end
    -- Without a word only what lies at the top is of use.
    if rank and #ranks[rank] < most and (lead ~= "" or rank == 1) then
      table.insert(ranks[rank], name)
    end
  end
  local found = {}
  for _, it in ipairs(ranks) do
    table.sort(it)
    vim.list_extend(found, it)
  end
  return found
end

---@param lead string
---@return table[] items
local function commands(lead)
  local session = state.shown()
  local items = {}
  for _, it in ipairs(session and session.commands or {}) do
    if vim.startswith(it.name, lead) then
      table.insert(items, { word = "/" .. it.name, menu = (it.description:gsub("%s+", " ")) })
    end
  end
  return items
end

---@param lead string
---@return table[] items
local function mentions(lead)
  local items = {}
  for _, it in ipairs(words) do
    if vim.startswith(it[1], lead) then
      table.insert(items, { word = "@" .. it[1], menu = it[2] })
    end
  end
  local session, view = state.shown(), state.view
  local root = session and session.cwd ~= "" and session.cwd or view and view.root
  if not root or vim.startswith(lead, "symbol:") then
    return items
  end
  local names = require("undine.file_names").of(root, wait_ms)
  for _, path in ipairs(M.files(names, (lead:gsub('^"', "")))) do
    local word = M.mention(path)
    if word then
      table.insert(items, { word = word, menu = vim.endswith(path, "/") and "folder" or "file" })
    end
  end
  return items
end

--- Where the word at the cursor begins.
---@return integer?
local function from_here()
  local row, col = unpack(vim.api.nvim_win_get_cursor(0))
  local lines = vim.api.nvim_buf_get_lines(0, 0, row, false)
  local before = table.remove(lines):sub(1, col)
  return M.from(before, vim.trim(table.concat(lines)) == "")
end

--- The 'omnifunc' of the prompt; see |complete-functions|.
---@param findstart integer
---@param base string
---@return integer|table
function M.omnifunc(findstart, base)
  if findstart == 1 then
    local from = from_here()
    return from and from - 1 or -3
  end
  local is_command = vim.startswith(base, "/")
  local items = (is_command and commands or mentions)(base:sub(2))
  -- Asked again with each letter: what matches is more than what begins so.
  return { words = items, refresh = "always" }
end

--- Whether the person has this key for something in insert mode. What Neovim itself maps does not count.
---@param key string
local function is_taken(key)
  local raw = vim.api.nvim_replace_termcodes(key, true, true, true)
  return vim.iter(vim.api.nvim_get_keymap("i")):any(function(it)
    return it.lhsraw == raw and not (it.desc or ""):match("^vim%.snippet")
  end)
end

--- Makes a prompt complete: by the key of the option where that is free, and always by `<C-x><C-o>`.
---@param buf integer
function M.attach(buf)
  vim.bo[buf].omnifunc = "v:lua.require'undine.completion'.omnifunc"
  local key = config.get().keys.complete
  if not key or is_taken(key) then
    return
  end
  -- Not by expression: Neovim asks such a mapping before it has put in what was typed with the key.
  vim.keymap.set("i", key, function()
    local complete = from_here() and "<C-x><C-o>" or key
    local keys = vim.fn.pumvisible() == 1 and "<C-n>" or complete
    vim.api.nvim_feedkeys(vim.keycode(keys), "in", false)
  end, { buffer = buf, desc = "Undine: complete a command or a mention" })
end

return M
