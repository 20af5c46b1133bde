--- What only a server in a process of its own shows.

return {
  ["a request that the server takes back leaves the queue, the other stays"] = function(T)
    local child = T.child()
    child:run(function(server)
      require("undine").setup({
        cmd = { vim.v.progpath, "-u", "NONE", "-i", "NONE", "-n", "-l", server },
      })
    end, vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2))) .. "/stdio_server.lua")
    child:cmd("Undine go")
    child:see("first was answered cancelled")
    child:see("waiting for you (1)")
    child:wait(function()
      local panel = require("undine.state").panel
      return panel and panel.ask.call_id == "call-second"
    end)
    child:keys("1")
    child:see("second was answered selected once")
    child:wait(function()
      return require("undine.state").sessions.s1.n_running == 0
    end)
  end,

  ["the server ends with Neovim"] = function(T)
    local child = T.child()
    child:run(function(server)
      require("undine").setup({
        cmd = { vim.v.progpath, "-u", "NONE", "-i", "NONE", "-n", "-l", server },
      })
    end, vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2))) .. "/stdio_server.lua")
    child:cmd("Undine")
    child:wait(function()
      return require("undine.state").view.session
    end)
    local pid = child:run(function()
      return vim.api.nvim_get_proc_children(vim.fn.getpid())[1]
    end)
    T.ok(pid and vim.uv.kill(pid, 0) == 0, "the server runs")
    child:quit()
    T.wait(function()
      return vim.uv.kill(pid, 0) ~= 0
    end, "the end of the server")
  end,
}
