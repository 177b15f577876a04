// Above what the search finds: the page that answers, for questions in readers' own words, and the box that reads any text.

import { make } from "./dom.mjs";

// Words -> the page that answers, and its explorer. The first two that match are shown, in this order.
const ANSWERS = [
  [/undefined reference|cannot find -l|\blink(er|ing)?\b|\bmodules?\b.*(not found|load)|\bcompil|\bbuild\b/, "failure/build-and-link", "build"],
  [/oom.?kill|out.of.memory.*(killed|error)|\berror\b|\bcrash|\babort|\bsignal\b|exit(ed)? (code|status|signal)|\bsegmentation|segfault|\bsig(segv|kill|term|abrt)|bus error|\bquota\b|no space left|time.?limit|walltime|\bcancelled\b|traceback|\bnode.fail|\bfail(s|ed)?\b.*\bjob|\bjob\b.*\b(fail|died|killed)/, "failure/diagnosis", "diagnose"],
  [/\bbad nodes?\b|\bnode.fail|node (health|went down)|mpi_init|\bhangs?\b|\bhung\b|\bstuck\b/, "failure/bad-nodes", "bad-nodes"],
  [/out of memory|\boom\b|memory per|memory a task|\bmem(-per-cpu)?\b|high.?memory|how much memory/, "node/memory", "memory"],
  [/huge.?pages|\btlb\b|shared librar|dynamic(ally)? link|load time|\bpython\b|\bimports?\b|squashfs|container/, "node/pages-and-libraries", "load-time"],
  [/hybrid|openmp|omp_num_threads|threads per task|how many threads/, "node/hybrid", "hybrid"],
  [/\baprun\b|\bsrun\b|\bmpiexec\b|\bmpirun\b|cpu.?bind|mem.?bind|hyper-?thread|\bsmt\b|--hint|\bpin(ning)?\b|affinity|\bplacement\b|\bnuma\b|gpu.?bind|gpus?.per|gpu affinity|ntasks|tasks.per.node|cpus.per.task|sbatch|\bdistribution\b|--cores?\b/, "node/placement", "place"],
  [/rank (re)?order|mpich_rank|reorder|rank placement/, "network/rank-order", "rank-order"],
  [/dragonfly|fat.?tree|slingshot|infiniband|topology\.(conf|yaml)|\bswitch(es)?\b|bisection|valiant|adaptive routing/, "network/networks", "interconnect"],
  [/\btorus\b|\bgemini\b|\bhops?\b|node order/, "network/torus", "torus"],
  [/fragment|\bpieces\b|contiguous|scattered/, "network/fragmentation", "fragmentation"],
  [/variab|run.to.run|\bnois[ey]|\bjitter\b|\bmilc\b|performance varies|different times/, "network/variability", "variability"],
  [/(why|when).*(pending|start|wait)|job (trace|log)|queue.?(time|wait)|wait(ing)? time|\bsacct\b|\bswf\b|backfill|\bpending\b|priority/, "own/your-jobs", "simulate"],
  [/orphan|reservation|scheduler|\bdebug (queue|jobs?)\b|\bqueues?\b|full.machine/, "network/scheduling-trouble", "scheduling"],
  [/overlap|tuning|eager|asynchronous progress/, "network/overlap-and-tuning", "overlap"],
  [/slow ost|\bosts?\b/, "storage/slow-ost", "slow-ost"],
  [/small files|many files|hdf5|netcdf|chunk/, "own/your-files", "chunks"],
  [/strip(e|ing)|progressive (file )?layout|lustre/, "storage/striping", "stripe"],
  [/\bdarshan\b/, "own/your-darshan", "io-log"],
  [/\bior\b|mdtest|io500|slow (i\/o|io|read)|i\/o (log|slow)/, "own/your-io", "io-log"],
  [/slow(ly)?\b.*\bwrit|writ.*\bslow|node (can )?write|write bandwidth/, "storage/io-node", "io-node"],
  [/iobuf|buffered i\/o/, "storage/iobuf", "iobuf"],
  [/checkpoint|vpic|collective (buffering|i\/o)|shared file|trillion/, "storage/trillion", "trillion"],
  [/acceptance|\bssp\b|sustained/, "monitoring/acceptance", "ssp"],
  [/(benchmark|performance) (history|regression|drift)|regression test|reframe|got slower|after (the )?upgrade/, "own/your-benchmarks", "watch"],
  [/how many runs|repeat|run times?\b|percentile|confidence/, "own/your-runs", "runs-needed"],
  [/where did my job|node ?list|placements/, "own/your-placements", "where"],
  [/machine file|own machine|lstopo|hwloc|lscpu|scontrol/, "own/your-launch-lines", "place"],
];

/** The pages that answer, as [page, explorer]. */
function answersFor(asked) {
  const words = asked.toLowerCase();
  return ANSWERS.filter(([pattern]) => pattern.test(words)).slice(0, 2).map(([, page, explorer]) => [`notebooks/${page}.html`, explorer]);
}

/** Put the page that answers above what was found, and below it the box that takes any text. */
export function startSearch(results) {
  const asked = new URLSearchParams(location.search).get("q")?.trim();
  if (!asked) return;
  const titled = answersFor(asked).flatMap(([page, explorer]) => {
    const title = document.querySelector(`.bd-links__inner a[href="${page}"], nav a[href="${page}"]`)?.textContent.trim();
    return title ? [make("li", {}, make("a", { href: `${page}#explorer-${explorer}` }, title))] : [];
  });
  const box = `book/index.html#${new URLSearchParams({ "anything.text": asked })}`;
  results.before(
    make(
      "div",
      { class: "hopper-first-answers" },
      titled.length > 0 && make("p", {}, "This page answers, with a tool to try:"),
      titled.length > 0 && make("ul", {}, ...titled),
      make("p", {}, "An error message, a launch line, or a line of a log? ", make("a", { href: box }, "Let the box read it"), "."),
    ),
  );
}
