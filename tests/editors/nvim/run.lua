--- Runs the cases: nvim --headless -u NONE -i NONE -n -l tests/editors/nvim/run.lua [file ...]
---
--- Without files: all of `cases/`, then all of `real/`, which need UNDINE_BIN and say so when it is not set.
local here = vim.fs.dirname(vim.fs.normalize(debug.getinfo(1, "S").source:sub(2)))
here = vim.fn.fnamemodify(here, ":p"):gsub("/$", "")
package.path = here .. "/?.lua;" .. package.path
vim.opt.runtimepath:prepend(vim.fs.dirname(vim.fs.dirname(vim.fs.dirname(here))) .. "/editors/nvim")

local harness = require("harness")

local function in_folder(name)
  return vim.fn.sort(vim.fn.glob(here .. "/" .. name .. "/*.lua", true, true))
end

local files = {}
for _, name in ipairs(arg) do
  table.insert(files, name)
end
if #files == 0 then
  files = in_folder("cases")
  local real = in_folder("real")
  local bin = os.getenv("UNDINE_BIN")
  if bin and bin ~= "" then
    vim.list_extend(files, real)
  else
    io.stdout:write(("skipped real/: UNDINE_BIN is not set (%d files)\n"):format(#real))
  end
end
harness.run(files)
