--- A server of its own process, for what only Neovim's real transport shows: nvim -l stdio_server.lua
---
--- On a prompt it asks for two permissions, takes the first request back, and tells in the chat what it was answered.
local prompt_id

local function send(message)
  message.jsonrpc = "2.0"
  local body = vim.json.encode(message)
  io.stdout:write(("Content-Length: %d\r\n\r\n%s"):format(#body, body))
  io.stdout:flush()
end

local function read()
  local length
  while true do
    local line = io.stdin:read("*l")
    if not line then
      return nil
    end
    line = line:gsub("\r$", "")
    if line == "" then
      return vim.json.decode(io.stdin:read(length))
    end
    length = tonumber(line:match("^Content%-Length: (%d+)$")) or length
  end
end

local function ask(id)
  send({
    id = id,
    method = "session/request_permission",
    params = {
      sessionId = "s1",
      options = {
        { optionId = "once", name = "Allow once", kind = "allow_once" },
        { optionId = "no", name = "No", kind = "reject_once" },
      },
      toolCall = { toolCallId = "call-" .. id, title = "Run " .. id, status = "pending" },
    },
  })
end

local on = {
  initialize = function(id)
    local capabilities = { experimental = { agent = { protocolVersion = 1 } } }
    send({ id = id, result = { capabilities = capabilities } })
  end,
  ["session/new"] = function(id)
    send({ id = id, result = { sessionId = "s1" } })
  end,
  ["session/prompt"] = function(id)
    prompt_id = id
    ask("first")
    ask("second")
    send({ method = "$/cancelRequest", params = { id = "first" } })
  end,
  shutdown = function(id)
    send({ id = id, result = vim.NIL })
  end,
}

for message in read do
  if message.method == "exit" then
    break
  elseif on[message.method] then
    on[message.method](message.id)
  elseif message.result then
    local outcome = message.result.outcome
    local text = ("%s was answered %s %s\n"):format(
      message.id,
      outcome.outcome,
      outcome.optionId or ""
    )
    send({
      method = "session/update",
      params = {
        sessionId = "s1",
        update = { sessionUpdate = "agent_message_chunk", content = { type = "text", text = text } },
      },
    })
    if message.id == "second" then
      send({ id = prompt_id, result = { stopReason = "end_turn" } })
    end
  end
end
