--- A model that is asked again: the bar says so and counts down.

local function bar(child)
  return child:run(function()
    local session = require("undine.state").shown()
    return require("undine.chat").status(session)
  end)
end

local function retry(child, value)
  child:run(function(given)
    fake.notify("undine/retry", { sessionId = "s1", retry = given })
  end, value)
end

local function begin(T)
  local child = T.child()
  child:open_chat()
  child:keys("ihello<C-s>")
  child:take("session/prompt")
  return child
end

return {
  ["the seconds count down and go when the model is asked"] = function(T)
    local child = begin(T)
    retry(child, { why = "too many requests", attempt = 2, of = 5, afterMs = 2500 })
    child:wait(function()
      local session = require("undine.state").shown()
      return require("undine.chat").status(session):find("in 3 s (2 of 5): too many requests", 1, true) ~= nil
    end)
    child:wait(function()
      local win = vim.fn.win_findbuf(require("undine.state").view.transcript)[1]
      return vim.wo[win].winbar:find("in 2 s", 1, true) ~= nil
    end)
    retry(child, nil)
    child:wait(function()
      local session = require("undine.state").shown()
      return not require("undine.chat").status(session):find("asking again", 1, true)
    end)
    T.eq(bar(child), "Undine  ask  working")
  end,

  ["what is left out at once is named without a countdown"] = function(T)
    local child = begin(T)
    retry(child, { why = "m does not take temperature.", attempt = 1, of = 4, afterMs = 0 })
    child:wait(function()
      local session = require("undine.state").shown()
      return require("undine.chat").status(session):find("  m does not take temperature.", 1, true) ~= nil
    end)
    T.eq(bar(child), "Undine  ask  working  m does not take temperature.")
  end,
}
