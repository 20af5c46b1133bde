--- What the turn waits for is moved to the background.

local function begin(T, process, agent)
  local child = T.child()
  child:open_chat()
  child:run(function(commands, agents)
    fake.errors["undine/process/detach"] = { code = -32803, message = "No command runs." }
    fake.errors["undine/agent/detach"] = { code = -32803, message = "No agent works." }
    fake.results["undine/process/detach"] = commands and function()
      return { sessionId = "s1", processes = {} }
    end or nil
    fake.results["undine/agent/detach"] = agents and function()
      return { sessionId = "s1", agents = {} }
    end or nil
    _G.told = {}
    vim.notify = function(text)
      table.insert(_G.told, text)
    end
  end, process, agent)
  return child
end

local function told(child, n)
  return child:wait(function(count)
    return #_G.told >= count and _G.told
  end, n)
end

local function detach(T, child)
  child:keys("ihello<C-s>")
  child:take("session/prompt")
  child:keys("<C-b>")
  T.eq(child:take("undine/process/detach"), '{"sessionId":"s1"}')
  T.eq(child:take("undine/agent/detach"), '{"sessionId":"s1"}')
end

return {
  ["the key moves commands and subagents, and says so once"] = function(T)
    local child = begin(T, true, true)
    detach(T, child)
    T.eq(told(child, 1), { "Undine: it goes on in the background." })
  end,

  ["that there is none of one kind is not said where one of the other moves"] = function(T)
    local child = begin(T, false, true)
    detach(T, child)
    T.eq(told(child, 1), { "Undine: it goes on in the background." })
  end,

  ["that nothing is waited for is said, and where no turn runs nothing is sent"] = function(T)
    local child = begin(T, false, false)
    child:cmd("UndineDetach")
    T.eq(told(child, 1), { "Undine: nothing is running." })
    detach(T, child)
    local refused = vim.list_slice(told(child, 3), 2)
    T.eq(refused, { "Undine: No command runs.", "Undine: No agent works." })
  end,
}
