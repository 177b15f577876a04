-- Advice on a job while sbatch, srun and salloc submit it: two lines at most, on the user's terminal.
-- It lies beside slurm.conf, which says CliFilterPlugins=lua. Whatever fails, the job goes on as if it were not here.

-- What the site sets.
local HOPPER = "/opt/hopper/bin/hopper"
local MACHINE = "/etc/hopper/site.toml" -- written by: hopper machine new
local REFUSE = false                    -- true refuses a job that cannot run
local LIMIT_S = 0.3 -- a tenth of a second more for what does not end

local function quoted(text)
    return "'" .. text:gsub("'", "'\\''") .. "'"
end

local function advise(options)
    if os.getenv("HOPPER_QUIET") then return slurm.SUCCESS end
    local json = slurm.json_cli_options(options)
    -- One argument of a command takes 128 KiB.
    if not json or #json > 60000 then return slurm.SUCCESS end
    json = '{"type":"' .. options["type"] .. '",' .. json:sub(2)
    -- Without a terminal nothing is checked, unless the site refuses jobs that cannot run.
    local terminal = REFUSE and "true" or "test -t 2"
    local command = string.format(
        "%s && exec 2>/dev/null && printf %%s %s | timeout -k 0.1 %s %s place --machine %s --from-slurm-json -",
        terminal, quoted(json), LIMIT_S, quoted(HOPPER), quoted(MACHINE))
    local pipe = io.popen(command)
    if not pipe then return slurm.SUCCESS end
    local refused = false
    for line in pipe:lines() do
        slurm.log_info("hopper: %s", line)
        refused = refused or line:sub(1, 12) == "cannot run: "
    end
    pipe:close()
    return REFUSE and refused and slurm.ERROR or slurm.SUCCESS
end

function slurm_cli_setup_defaults(options, early)
    return slurm.SUCCESS
end

function slurm_cli_pre_submit(options, offset)
    local ran, result = pcall(advise, options)
    return ran and result or slurm.SUCCESS
end

function slurm_cli_post_submit(offset, job_id, step_id)
    return slurm.SUCCESS
end
