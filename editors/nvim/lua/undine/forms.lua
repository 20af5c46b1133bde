--- Asks the properties of an elicitation form one after another.
---
--- Esc anywhere cancels the form. A property which is not required may be skipped.
local M = {}

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
  return vim.list_extend(names, rest)
end

--- The values one may choose from, with what each is called.
---@param property table
---@return { value: any, label: string }[]? choices nil when it is free text
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
        local about = it.description
        return { value = it.const, label = about and ("%s: %s"):format(title, about) or title }
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
    return number
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
---@field take fun(value: any) nil skips it
---@field decline fun()
---@field cancel fun()

local label_of = function(it)
  return it.label
end

---@param question undine.Question
---@param choices { value: any, label: string }[]
local function ask_one(question, choices)
  local items = vim.list_extend({}, choices)
  if not question.is_required then
    table.insert(items, { label = "(skip this)", is_skip = true })
  end
  table.insert(items, { label = "(decline to answer)", is_decline = true })
  vim.ui.select(items, { prompt = question.prompt, format_item = label_of }, function(choice)
    if not choice then
      question.cancel()
    elseif choice.is_decline then
      question.decline()
    else
      question.take(choice.value)
    end
  end)
end

---@param question undine.Question
---@param choices { value: any, label: string }[]
---@param chosen table<integer, true> places in `choices`
---@param complaint? string
local function ask_many(question, choices, chosen, complaint)
  local items = { { label = "(done)", is_done = true } }
  for at, choice in ipairs(choices) do
    local label = ("[%s] %s"):format(chosen[at] and "x" or " ", choice.label)
    table.insert(items, { label = label, at = at })
  end
  table.insert(items, { label = "(decline to answer)", is_decline = true })
  local prompt = complaint and ("%s (%s)"):format(question.prompt, complaint) or question.prompt
  vim.ui.select(items, { prompt = prompt, format_item = label_of }, function(choice)
    if not choice then
      question.cancel()
      return
    end
    if choice.is_decline then
      question.decline()
      return
    end
    if choice.at then
      chosen[choice.at] = not chosen[choice.at] or nil
      ask_many(question, choices, chosen)
      return
    end
    local values = {}
    for at, it in ipairs(choices) do
      if chosen[at] then
        table.insert(values, it.value)
      end
    end
    local property = question.property
    if property.minItems and #values < property.minItems then
      ask_many(question, choices, chosen, ("choose at least %d"):format(property.minItems))
    elseif property.maxItems and #values > property.maxItems then
      ask_many(question, choices, chosen, ("choose at most %d"):format(property.maxItems))
    else
      question.take(values)
    end
  end)
end

---@param question undine.Question
---@param complaint? string
local function ask_text(question, complaint)
  local property = question.property
  local default = property.default ~= nil and tostring(property.default) or nil
  local prompt = complaint and ("%s (%s)"):format(question.prompt, complaint) or question.prompt
  vim.ui.input({ prompt = prompt .. " ", default = default }, function(typed)
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
  -- An input line shows one line only.
  local message = vim.trim((params.message or ""):gsub("%s+", " "))

  local function ask(at)
    local name = names[at]
    if not name then
      answer({ action = "accept", content = content })
      return
    end
    local property = schema.properties[name]
    local title = property.title or property.description or name
    local question = {
      prompt = (at == 1 and message ~= "") and ("%s (%s):"):format(message, title) or title .. ":",
      property = property,
      is_required = vim.list_contains(schema.required or {}, name),
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
    if property.type == "array" then
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
