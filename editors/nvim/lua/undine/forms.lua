--- Asks the properties of an elicitation form one after another.
---
--- Esc anywhere cancels the form. A property which is not required may be skipped. What `_meta.undine` says of a question (its kind,
--- and the fields for another answer, a note and keeping it) is offered beside its choices.
local M = {}

--- What a property or an option says of itself beside the schema.
---@param it table
---@return table
local function about(it)
  return vim.tbl_get(it, "_meta", "undine") or {}
end

--- Order of the questions: as `required` lists them, then the rest by name, for a JSON object has no order in Lua.
---@param schema table
---@return string[] names
function M.order(schema)
  local names, seen = {}, {}
  for _, name in ipairs(schema.required or {}) do
    if schema.properties[name] and not seen[name] then
      table.insert(names, name)
      seen[name] = true
    end
  end
  local rest = vim
    .iter(vim.tbl_keys(schema.properties or {}))
    :filter(function(name)
      return not seen[name]
    end)
    :totable()
  table.sort(rest)
  -- What belongs to a question is asked with it.
  return vim
    .iter(vim.list_extend(names, rest))
    :filter(function(name)
      local meta = about(schema.properties[name])
      return not meta.of and not meta.as
    end)
    :totable()
end

--- The values one may choose from, with what each is called.
---@param property table
---@return { value: any, label: string, preview?: table }[]? choices nil when it is free text
function M.choices(property)
  if property.type == "boolean" then
    return { { value = true, label = "Yes" }, { value = false, label = "No" } }
  end
  local source = property.type == "array" and property.items or property
  local titled = source.oneOf or source.anyOf
  if titled then
    return vim
      .iter(titled)
      :map(function(it)
        local title = it.title or tostring(it.const)
        local described = it.description and ("%s: %s"):format(title, it.description) or title
        return { value = it.const, label = described, preview = about(it).preview }
      end)
      :totable()
  end
  if source.enum then
    return vim
      .iter(ipairs(source.enum))
      :map(function(at, value)
        return { value = value, label = (source.enumNames or {})[at] or tostring(value) }
      end)
      :totable()
  end
end

--- Whether a date is one of the calendar's, as 2026-01-14.
---@param typed string
---@return boolean
local function is_date(typed)
  local year, month, day = typed:match("^(%d%d%d%d)%-(%d%d)%-(%d%d)$")
  if not year then
    return false
  end
  local noon = { year = tonumber(year), month = tonumber(month), day = tonumber(day), hour = 12 }
  return os.date("%Y-%m-%d", os.time(noon)) == typed
end

--- Whether a text has the pattern; one that Vim cannot read accepts anything.
---@param pattern string
---@param typed string
---@return boolean
local function fits(pattern, typed)
  local vims = pattern:gsub("[=<>&~@%%]", "\\%0"):gsub("%(%?:", "%%(")
  local ok, regex = pcall(vim.regex, "\\v" .. vims)
  return not ok or regex:match_str(typed) ~= nil
end

--- Takes what was typed for what the schema wants.
---@param property table
---@param typed string
---@return any value
---@return string? problem
function M.parse(property, typed)
  if property.type == "number" or property.type == "integer" then
    local number = tonumber(typed)
    if not number then
      return nil, "a number is needed"
    end
    if property.type == "integer" and number % 1 ~= 0 then
      return nil, "a whole number is needed"
    end
    if property.minimum and number < property.minimum then
      return nil, ("at least %s is needed"):format(property.minimum)
    end
    if property.maximum and number > property.maximum then
      return nil, ("at most %s is possible"):format(property.maximum)
    end
    local step = about(property).step
    if step and step > 0 then
      local steps = (number - (property.minimum or 0)) / step
      if math.abs(steps - math.floor(steps + 0.5)) > 1e-9 then
        return nil, ("steps of %s are needed"):format(step)
      end
    end
    return number
  end
  if property.format == "date" and not is_date(typed) then
    return nil, "a date as 2026-01-14 is needed"
  end
  if property.pattern and not fits(property.pattern, typed) then
    return nil, "that is not what is asked for"
  end
  local length = vim.fn.strchars(typed)
  if property.minLength and length < property.minLength then
    return nil, ("at least %d characters are needed"):format(property.minLength)
  end
  if property.maxLength and length > property.maxLength then
    return nil, ("at most %d characters are possible"):format(property.maxLength)
  end
  return typed
end

---@class undine.Question
---@field prompt string
---@field property table
---@field is_required boolean
---@field content table what was answered so far; fields beside the question go there at once
---@field discuss? string the field that says that the person would rather talk
---@field take fun(value: any) nil skips it
---@field talk fun() ends the form in that way
---@field decline fun()
---@field cancel fun()

local label_of = function(it)
  return it.label
end

---@param question undine.Question
---@param complaint? string
---@return string
local function prompt_of(question, complaint)
  return complaint and ("%s (%s)"):format(question.prompt, complaint) or question.prompt
end

--- Asks for a line that goes into a field beside the question.
---@param question undine.Question
---@param field string
---@param prompt string
---@param done fun(typed: string?) nil when nothing was typed
local function ask_beside(question, field, prompt, done)
  vim.ui.input({ prompt = prompt .. " ", default = question.content[field] }, function(typed)
    typed = typed and vim.trim(typed)
    question.content[field] = typed ~= "" and typed or nil
    done(question.content[field])
  end)
end

--- Shows what the options would look like.
---@param choices { value: any, label: string, preview?: table }[]
local function show_previews(choices)
  local lines = {}
  for _, choice in ipairs(choices) do
    if choice.preview then
      local language = choice.preview.diff and "diff" or choice.preview.language or ""
      vim.list_extend(lines, { "## " .. choice.label, "", "````" .. language })
      vim.list_extend(lines, vim.split(choice.preview.content or "", "\r?\n"))
      vim.list_extend(lines, { "````", "" })
    end
  end
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].bufhidden, vim.bo[buf].filetype = "wipe", "markdown"
  vim.bo[buf].modifiable = false
  vim.api.nvim_open_win(buf, false, { split = "below", win = -1, height = math.min(#lines, 15) })
  vim.cmd.redraw()
end

--- What can be done beside choosing. `again` puts the same question once more.
---@param question undine.Question
---@param choices { value: any, label: string, preview?: table }[]
---@param other fun(typed: string) takes another answer than those offered
---@param again fun()
---@return table[] items
local function ways_beside(question, choices, other, again)
  local meta, items = about(question.property), {}
  local function add(label, run)
    table.insert(items, { label = label, run = run })
  end
  if meta.other then
    add("(another answer)", function()
      ask_beside(question, meta.other, "Another answer:", function(typed)
        if typed then
          other(typed)
        else
          again()
        end
      end)
    end)
  end
  if meta.note then
    add(question.content[meta.note] and "(change the note)" or "(add a note)", function()
      ask_beside(question, meta.note, "Note:", again)
    end)
  end
  if meta.keep then
    local mark = question.content[meta.keep] and "x" or " "
    add(("(keep this answer, ask no more) [%s]"):format(mark), function()
      question.content[meta.keep] = not question.content[meta.keep] or nil
      again()
    end)
  end
  if vim.iter(choices):any(function(it)
    return it.preview ~= nil
  end) then
    add("(show the previews)", function()
      show_previews(choices)
      again()
    end)
  end
  if not question.is_required then
    add("(skip this)", function()
      question.take(nil)
    end)
  end
  if question.discuss then
    add("(chat about this)", question.talk)
  end
  add("(decline to answer)", question.decline)
  return items
end

---@param question undine.Question
---@param prompt string
---@param items table[] each with a label and what choosing it does
local function choose(question, prompt, items)
  vim.ui.select(items, { prompt = prompt, format_item = label_of }, function(choice)
    if choice then
      choice.run()
    else
      question.cancel()
    end
  end)
end

---@param question undine.Question
---@param choices { value: any, label: string, preview?: table }[]
local function ask_one(question, choices)
  local items = vim
    .iter(choices)
    :map(function(choice)
      return {
        label = choice.label,
        run = function()
          question.take(choice.value)
        end,
      }
    end)
    :totable()
  local function other()
    question.take(nil)
  end
  local function again()
    ask_one(question, choices)
  end
  vim.list_extend(items, ways_beside(question, choices, other, again))
  choose(question, question.prompt, items)
end

---@param question undine.Question
---@param choices { value: any, label: string, preview?: table }[]
---@param chosen table<integer, true> places in `choices`
---@param complaint? string
local function ask_many(question, choices, chosen, complaint)
  local property = question.property
  local function again(why)
    ask_many(question, choices, chosen, why)
  end
  local function done()
    local values = {}
    for at, it in ipairs(choices) do
      if chosen[at] then
        table.insert(values, it.value)
      end
    end
    if property.minItems and #values < property.minItems then
      again(("choose at least %d"):format(property.minItems))
    elseif property.maxItems and #values > property.maxItems then
      again(("choose at most %d"):format(property.maxItems))
    else
      question.take(values)
    end
  end
  local items = { { label = "(done)", run = done } }
  for at, choice in ipairs(choices) do
    table.insert(items, {
      label = ("[%s] %s"):format(chosen[at] and "x" or " ", choice.label),
      run = function()
        chosen[at] = not chosen[at] or nil
        again()
      end,
    })
  end
  -- Another answer is one more, beside those that are chosen.
  local function other()
    again()
  end
  vim.list_extend(items, ways_beside(question, choices, other, again))
  choose(question, prompt_of(question, complaint), items)
end

--- Puts the choices into an order, the first one first.
---@param question undine.Question
---@param choices { value: any, label: string, preview?: table }[] those that have no place yet
---@param ranked any[] the values that have one
local function ask_order(question, choices, ranked)
  if #choices <= 1 and #ranked > 0 then
    local rest = vim.iter(choices):map(function(it)
      return it.value
    end)
    question.take(vim.list_extend(ranked, rest:totable()))
    return
  end
  local function again()
    ask_order(question, choices, ranked)
  end
  local items = {}
  for at, choice in ipairs(choices) do
    table.insert(items, {
      label = choice.label,
      run = function()
        local rest = vim.list_extend({}, choices)
        table.remove(rest, at)
        ask_order(question, rest, vim.list_extend(vim.list_extend({}, ranked), { choice.value }))
      end,
    })
  end
  local function other()
    question.take(nil)
  end
  vim.list_extend(items, ways_beside(question, choices, other, again))
  choose(question, prompt_of(question, ("place %d"):format(#ranked + 1)), items)
end

--- What there is to know before one types.
---@param property table
---@return string?
local function hint(property)
  local meta = about(property)
  if meta.kind == "date" then
    return "as 2026-01-14"
  elseif meta.kind == "path" then
    return meta.mustExist and "a path that exists" or "a path"
  elseif meta.kind == "number" and (property.minimum or property.maximum) then
    local step = meta.step and (" in steps of %s"):format(meta.step) or ""
    return ("%s to %s%s"):format(property.minimum or "any", property.maximum or "any", step)
  end
end

---@param question undine.Question
---@param complaint? string
local function ask_text(question, complaint)
  local property = question.property
  local meta = about(property)
  local default = property.default ~= nil and tostring(property.default) or nil
  local prompt = prompt_of(question, complaint or hint(property))
  local input = {
    prompt = prompt .. " ",
    default = default,
    completion = meta.kind == "path" and "file" or nil,
  }
  vim.ui.input(input, function(typed)
    if not typed then
      question.cancel()
      return
    end
    if typed == "" and not question.is_required then
      question.take(nil)
      return
    end
    local value, problem = M.parse(property, typed)
    if problem then
      ask_text(question, problem)
    elseif meta.keep then
      choose(question, "Ask this again another time?", {
        {
          label = "Ask again",
          run = function()
            question.take(value)
          end,
        },
        {
          label = "Keep this answer",
          run = function()
            question.content[meta.keep] = true
            question.take(value)
          end,
        },
      })
    else
      question.take(value)
    end
  end)
end

---@param property table
---@return table<integer, true>
local function preselected(property, choices)
  local chosen = {}
  for at, choice in ipairs(choices) do
    if vim.list_contains(property.default or {}, choice.value) then
      chosen[at] = true
    end
  end
  return chosen
end

--- Asks everything and calls `answer` with the result of `elicitation/create`.
---@param params { message: string, requestedSchema: table }
---@param answer fun(result: table)
function M.run(params, answer)
  local schema = params.requestedSchema or {}
  schema.properties = schema.properties or {}
  local names = M.order(schema)
  local content = vim.empty_dict()
  local discuss = vim.iter(vim.tbl_keys(schema.properties)):find(function(name)
    return about(schema.properties[name]).as == "discuss"
  end)
  -- An input line shows one line only.
  local message = vim.trim((params.message or ""):gsub("%s+", " "))
  -- Ours is the questions themselves.
  if names[1] and about(schema.properties[names[1]]).kind then
    message = ""
  end

  local function ask(at)
    local name = names[at]
    if not name then
      answer({ action = "accept", content = content })
      return
    end
    local property = schema.properties[name]
    -- The question itself, where it is one of ours; else the field's name.
    local title = about(property).kind and property.description or property.title
    title = title or property.description or name
    local question = {
      prompt = (at == 1 and message ~= "") and ("%s (%s):"):format(message, title) or title .. ":",
      property = property,
      is_required = vim.list_contains(schema.required or {}, name),
      content = content,
      discuss = discuss,
      talk = function()
        answer({ action = "accept", content = { [discuss] = true } })
      end,
      take = function(value)
        content[name] = value
        ask(at + 1)
      end,
      decline = function()
        answer({ action = "decline" })
      end,
      cancel = function()
        answer({ action = "cancel" })
      end,
    }
    local choices = M.choices(property)
    if about(property).kind == "rank" then
      ask_order(question, choices or {}, {})
    elseif property.type == "array" then
      ask_many(question, choices or {}, preselected(property, choices or {}))
    elseif choices then
      ask_one(question, choices)
    else
      ask_text(question)
    end
  end

  ask(1)
end

return M
