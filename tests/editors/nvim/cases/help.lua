--- The help is found without a step of its own: its tags are here, and are those that Neovim makes.

return {
  [":help undine opens the help, and each command has its own place"] = function(T)
    local child = T.child()
    local commands = child:run(function()
      return vim.fn.getcompletion("Undine", "command")
    end)
    T.ok(#commands > 0, "there are commands")
    for _, name in ipairs(vim.list_extend({ "undine" }, commands)) do
      child:cmd("help " .. (name == "undine" and name or ":" .. name))
      T.eq(
        child:run(function()
          return { vim.fs.basename(vim.fn.bufname()), vim.bo.buftype }
        end),
        { "undine.txt", "help" },
        name
      )
    end
  end,

  ["the tags are up to date; :helptags in editors/nvim/doc makes them anew"] = function(T)
    local doc = vim.fs.dirname(vim.api.nvim_get_runtime_file("doc/undine.txt", false)[1])
    local folder = T.folder({ ["undine.txt"] = T.read(doc .. "/undine.txt") })
    vim.cmd.helptags(vim.fn.fnameescape(folder))
    T.eq(T.read(doc .. "/tags"), T.read(folder .. "/tags"))
  end,
}
