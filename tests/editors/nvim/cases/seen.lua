--- What the person sees, as the server asks for it: the selection, the problems, where symbols are.

local function begin(T)
  local child = T.child(T.folder({ ["a.txt"] = "one\ntwo\nthree\n", ["b.txt"] = "uno\n" }))
  child:cmd("edit a.txt")
  child:open_chat()
  return child
end

local function uri(child, name)
  return "file://" .. child.folder .. "/" .. name
end

--- A problem of another tool in the buffer of this file.
local function problem(child, name, text)
  child:run(function(file, message)
    local at = { lnum = 1, col = 0, message = message, source = "lint" }
    at.severity = vim.diagnostic.severity.WARN
    vim.diagnostic.set(vim.api.nvim_create_namespace("lint"), vim.fn.bufnr(file), { at })
  end, name, text)
end

--- Another language server, with these symbols, attached to the file.
local function other_server(child, name)
  child:run(function(file)
    local function cmd()
      return {
        request = function(method, params, reply)
          local result = vim.empty_dict()
          if method == "initialize" then
            result = { capabilities = { workspaceSymbolProvider = true } }
          elseif method == "workspace/symbol" then
            local first, last = { line = 3, character = 0 }, { line = 9, character = 1 }
            local range = { start = first, ["end"] = last }
            local location = { uri = "file:///p/m.rs", range = range }
            result = { { name = params.query, kind = 12, location = location } }
          end
          vim.schedule(function()
            reply(nil, result)
          end)
          return true, 1
        end,
        notify = function()
          return true
        end,
        is_closing = function()
          return false
        end,
        terminate = function() end,
      }
    end
    vim.lsp.start({ name = "other", cmd = cmd }, { bufnr = vim.fn.bufnr(file) })
  end, name)
  child:wait(function(file)
    local clients = vim.lsp.get_clients({ name = "other", bufnr = vim.fn.bufnr(file) })
    return clients[1] and clients[1].initialized
  end, name)
end

return {
  ["the lines that were selected last in the file are the selection"] = function(T)
    local child = begin(T)
    child:ask("undine/selection", {})
    T.eq(child:answer("undine/selection"), "{}")
    child:keys("<C-w>hjVj<Esc><C-w>l")
    child:ask("undine/selection", {})
    T.eq(
      child:answer("undine/selection"),
      ('{"selection":{"lines":[2,3],"text":"two\\nthree","uri":"%s"}}'):format(uri(child, "a.txt"))
    )
  end,

  ["problems of others are told, of one file and of all; our own are none"] = function(T)
    local child = begin(T)
    problem(child, "a.txt", "unused")
    child:run(function()
      local client = vim.lsp.get_clients({ name = "undine" })[1]
      local own = vim.lsp.diagnostic.get_namespace(client.id)
      local at = { lnum = 0, col = 0, message = "changed by the agent" }
      vim.diagnostic.set(own, vim.fn.bufnr("a.txt"), { at })
    end)
    local lint = '{"line":2,"message":"unused","severity":2,"source":"lint"}'
    local told = '{"files":[{"problems":[' .. lint .. '],"uri":"%s"}]}'
    child:ask("undine/diagnostics", {})
    T.eq(child:answer("undine/diagnostics"), told:format(uri(child, "a.txt")))
    child:ask("undine/diagnostics", { uri = uri(child, "a.txt") })
    T.eq(child:answer("undine/diagnostics"), told:format(uri(child, "a.txt")))
    child:ask("undine/diagnostics", { uri = uri(child, "b.txt") })
    T.eq(child:answer("undine/diagnostics"), '{"files":[]}')
  end,

  ["problems of a version are waited for where somebody looks at the file, and only so long"] = function(
    T
  )
    local child = begin(T)
    other_server(child, "a.txt")
    local version = child:run(function()
      return vim.lsp.util.buf_versions[vim.fn.bufnr("a.txt")]
    end)
    local params = { uri = uri(child, "a.txt"), version = version, waitMs = 60000 }
    child:ask("undine/diagnostics", params)
    child:run(function() end)
    T.eq(
      child:run(function()
        return #fake.answers
      end),
      0,
      "it waits"
    )
    problem(child, "a.txt", "new")
    T.has(child:answer("undine/diagnostics"), '"message":"new"')
    params.waitMs = 1
    child:ask("undine/diagnostics", params)
    T.eq(child:answer("undine/diagnostics"), '{"files":[]}')
  end,

  ["symbols are asked of the other servers; without one there are none"] = function(T)
    local child = begin(T)
    child:ask("undine/symbols", { query = "main" })
    T.eq(child:answer("undine/symbols"), '{"symbols":[]}')
    other_server(child, "a.txt")
    child:ask("undine/symbols", { query = "main" })
    T.eq(
      child:answer("undine/symbols"),
      '{"symbols":[{"lines":[4,10],"name":"main","uri":"file:///p/m.rs"}]}'
    )
  end,
}
