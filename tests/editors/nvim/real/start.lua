--- The real program, as far as it goes without a model.

return {
  ["the chat opens with a session of the real server"] = function(T)
    local child = T.real(T.folder({ ["a.txt"] = "one\n" }))
    child:cmd("edit a.txt")
    child:cmd("Undine")
    child:wait(function()
      return require("undine.state").view.session
    end)
  end,
}
