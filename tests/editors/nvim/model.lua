--- A model whose answers a case writes: Chat Completions over loopback, inside the test's own process.
---
--- Every request is handed to the case, which says what is streamed back. A request that breaks the wire's rules (a
--- tool call without its result) is a failure of the case, whatever the case looks at.
local M = {}

local request_methods = {}

---@param socket uv.uv_tcp_t
---@param text string
local function write_chunk(socket, text)
  socket:write(("%x\r\n%s\r\n"):format(#text, text))
end

local function event(request, value)
  if request.is_gone then
    return
  end
  if not request.is_begun then
    request.is_begun = true
    request.socket:write(
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
        .. "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
  end
  local body = type(value) == "string" and value or vim.json.encode(value)
  write_chunk(request.socket, "data: " .. body .. "\n\n")
end

local function delta(request, fields, finish_reason)
  event(request, {
    id = "answer",
    object = "chat.completion.chunk",
    model = "scripted-1",
    choices = { { index = 0, delta = fields, finish_reason = finish_reason } },
  })
end

--- Streams some text.
function request_methods.say(request, text)
  delta(request, { content = text })
end

--- Streams a whole tool call.
function request_methods.call(request, id, name, arguments)
  delta(request, {
    tool_calls = {
      {
        index = request.n_calls,
        id = id,
        type = "function",
        ["function"] = { name = name, arguments = vim.json.encode(arguments) },
      },
    },
  })
  request.n_calls = request.n_calls + 1
end

---@param last string
local function hang_up(request, last)
  if not request.is_gone then
    request.is_gone = true
    request.socket:write(last, function()
      if not request.socket:is_closing() then
        request.socket:close()
      end
    end)
  end
end

--- Ends the answer, for a reason of the wire if the usual ones do not fit.
---@param reason? string
function request_methods.finish(request, reason)
  delta(request, vim.empty_dict(), reason or (request.n_calls > 0 and "tool_calls" or "stop"))
  event(request, "[DONE]")
  hang_up(request, "0\r\n\r\n")
end

--- Answers with an error instead.
function request_methods.fail(request, status, message)
  local body = vim.json.encode({ error = { message = message } })
  hang_up(
    request,
    ("HTTP/1.1 %d Error\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s"):format(
      status,
      #body,
      body
    )
  )
end

local function text_of(content)
  if type(content) ~= "table" then
    return content
  end
  return table.concat(vim.tbl_map(function(part)
    return part.text
  end, content))
end

--- The result of a tool call, as this request tells it.
function request_methods.result(request, id)
  for _, message in ipairs(request.body.messages) do
    if message.role == "tool" and message.tool_call_id == id then
      return text_of(message.content)
    end
  end
end

--- What breaks a rule: each call has one result, right behind its answer, and no result stands alone.
---@param messages table[]
---@return string? problem
local function problem_of(messages)
  local open = {}
  for at, message in ipairs(messages) do
    if message.role == "tool" then
      if not open[message.tool_call_id] then
        return ("message %d answers a call that is not open: %s"):format(at, message.tool_call_id)
      end
      open[message.tool_call_id] = nil
    else
      local id = next(open)
      if id then
        return ("the call %s has no result before message %d"):format(id, at)
      end
      for _, call in ipairs(message.tool_calls or {}) do
        open[call.id] = true
      end
    end
  end
  local id = next(open)
  return id and ("the call %s has no result"):format(id)
end

local function take(model, socket, body)
  local request = setmetatable(
    { socket = socket, body = vim.json.decode(body), n_calls = 0 },
    { __index = request_methods }
  )
  local problem = problem_of(request.body.messages)
  if problem then
    model.problem = model.problem or problem .. "\n" .. vim.inspect(request.body.messages)
  end
  table.insert(model.waiting, request)
  return request
end

local function serve(model, socket)
  local heard, request = "", nil
  socket:read_start(function(problem, more)
    if problem or not more then
      if request and not request.is_gone then
        request.is_gone = true
      end
      if not socket:is_closing() then
        socket:close()
      end
      return
    end
    heard = heard .. more
    local _, head_end = heard:find("\r\n\r\n", 1, true)
    local length = head_end and tonumber(heard:lower():match("\r\ncontent%-length: (%d+)\r\n"))
    if not request and length and #heard >= head_end + length then
      request = take(model, socket, heard:sub(head_end + 1, head_end + length))
    end
  end)
end

local model_methods = {}

--- Waits for the next request.
function model_methods.next(model, what)
  model.T.wait(function()
    return model.waiting[1]
  end, what or "a request to the model")
  return table.remove(model.waiting, 1)
end

--- Waits for the next request and answers it with a text.
function model_methods.answer(model, text)
  local request = model:next("a request to answer: " .. text)
  request:say(text)
  request:finish()
  return request
end

--- Waits for the next request and answers it with one tool call.
function model_methods.call(model, id, name, arguments)
  local request = model:next("a request to answer with " .. name)
  request:call(id, name, arguments)
  request:finish()
  return request
end

--- Starts a model for one case; it ends with the case, which must have looked at every request.
function M.start(T)
  local model = setmetatable({ T = T, waiting = {} }, { __index = model_methods })
  local server = assert(vim.uv.new_tcp())
  assert(server:bind("127.0.0.1", 0))
  model.port = server:getsockname().port
  local sockets = {}
  assert(server:listen(16, function()
    local socket = assert(vim.uv.new_tcp())
    server:accept(socket)
    table.insert(sockets, socket)
    serve(model, socket)
  end))
  T.afterwards(function()
    T.ok(not model.problem, model.problem)
    T.eq(#model.waiting, 0, "requests to the model that nobody looked at")
  end, function()
    for _, it in ipairs(vim.list_extend({ server }, sockets)) do
      if not it:is_closing() then
        it:close()
      end
    end
  end)
  return model
end

return M
