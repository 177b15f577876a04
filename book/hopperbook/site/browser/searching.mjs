// Above what the search finds: the page that answers, for questions in readers' own words, and the box that reads any text.

import { make } from "./dom.mjs";
import { Finder } from "./finder.mjs";

// What people ask about -> the page that answers, and its explorer. The page of which most letters are matched comes first,
// of equals the one that stands first here.
const ANSWERS = [
  [/undefined (reference|symbol)|multiple definition|relocation truncated|\bcollect2\b|\bld(:| returned)|cannot find -l|\blink(er|ing)?\b|shared object|(error|cannot|failed).*shared librar\w*|\bglibc\w*|\bmodules?\b.*(not found|load)|\bcompil\w*|\bbuild\b|\bcmake\b|\bmakefile\b|\bmpicc\b|\bprgenv\b/g, "failure/build-and-link", "build"],
  [/(cuda|hip|gpu)( error|.*out of memory)|\bnccl\b|\bxid\b|oom.?kill\w*|out.of.memory.*(killed|error)|exceeded|\berror\b|\bcrash\w*|\babort\w*|core.?dump\w*|illegal (memory|instruction)|\bsignal\b|\bexit(ed)?\b( (code|status|signal))?|\bsegmentation|\bsegfault|\bsig(segv|kill|term|abrt|bus|ill|fpe)\b|bus error|\bquota\b|no space left|time.?limit|walltime|\bcancelled\b|\btraceback\b|no module named|permission denied|no such file|\bnode.fail\w*|\bfail\w*|\bkill\w*|\bdied\b|\binvalid\b|\bdenied\b|\brefused\b|\bunable\b/g, "failure/diagnosis", "diagnose"],
  [/\b(bad|broken|faulty|healthy|test|check|exclude) nodes?\b|\bnodes? (is |are |went )?(down|fail\w*|health)|mpi_init|\bhangs?\b|\bhung\b|\bstuck\b/g, "failure/bad-nodes", "bad-nodes"],
  [/out of memory|\boom\b|memory|\bmem(-per-cpu)?\b|\brss\b|\bswap\b|tasks fit/g, "node/memory", "memory"],
  [/huge.?(pages|tlb\w*)|\btlb\b|shared librar\w*|dynamic(ally)? link\w*|load time|start-?up|\bpython\b|\bimports?\b|\bconda\b|\bvenv\b|squashfs|containers?|singularity|apptainer/g, "node/pages-and-libraries", "load-time"],
  [/hybrid|openmp|\bomp\w*|\bkmp_\w*|\b(multi)?threads?\b|first touch/g, "node/hybrid", "hybrid"],
  [/\baprun\b|\bsrun\b|\bmpiexec\b|\bmpirun\b|bind(ing)?\b|hyper-?thread\w*|\bmultithreading\b|\bsmt\b|--hint|\bpin(ning)?\b|affinity|\bplacement\b|\bnuma\b|\bgpus?\b|ntasks|tasks.per.node|cpus.per.task|sbatch|\bdistribution\b|\bcores?\b|\bsockets?\b|--exclusive/g, "node/placement", "place"],
  [/\b(compar\w*|specification|brochure)\b.*\b(machines?|nodes?)\b|\bpeak\b|\bflops?\b|stream triad|machine balance/g, "node/machines", "machines"],
  [/rank (re)?order\w*|mpich_rank\w*|reorder\w*|rank placement|\bmapping\b|\bneighbou?rs?\b|\bhalo\b|\bstencil\b/g, "network/rank-order", "rank-order"],
  [/dragonfly|fat.?tree|slingshot|infiniband|topology\S*|\bswitch(es)?\b|bisection|valiant|\brouting\b|congest\w*|\bnetwork\b|all-?to-?all/g, "network/networks", "interconnect"],
  [/\btorus\b|\bgemini\b|\bhops?\b|node order/g, "network/torus", "torus"],
  [/fragment\w*|\bpieces\b|contiguous|scattered|\bholes\b/g, "network/fragmentation", "fragmentation"],
  [/variab\w*|\bvar(y|ies)\b|run.to.run|\bnois[ey]\b|\bjitter\b|\bmilc\b|interference|other jobs|unpredictable|intermittent|slowdown|different (run ?)?times|same (job|code|input|program)/g, "network/variability", "variability"],
  [/(why|when).*(pending|start|wait)|job (trace|log)|queue.?(time|wait)|in the queue|my job\b.*\bwait|\bwait(s|ing)?\b|start time|\bsacct\b|\bswf\b|\bsqueue\b|backfill\w*|\bpending\b|\b(assoc|qos|reqnode)\w+|priorit\w*|fair-?share/g, "own/your-jobs", "simulate"],
  [/\borphan\w*|\breserved\b|reservations?|scheduler|\bdebug (queue|jobs?)\b|\bqueues?\b|full.machine|\bidle\b|utili[sz]ation|\bdrain\w*|(big|large|wide) jobs?/g, "network/scheduling-trouble", "scheduling"],
  [/overlap|\btuning\b|\beager\b|asynchronous|non-?blocking|\b(all)?reduce\b|communication/g, "network/overlap-and-tuning", "overlap"],
  [/slow (ost|server)s?|\bosts?\b|\boss\b|\bone ost\b/g, "storage/slow-ost", "slow-ost"],
  [/(small|many|million) files|too many files|\bls\b( is)?( slow)?|h5(repack|dump|ls)|nccopy|hdf5|netcdf|\bzarr\b|chunk\w*|metadata\w*|\bmd[st]\b|inodes?/g, "own/your-files", "chunks"],
  [/strip(e|ing)\w*|progressive (file )?layout|\blustre\b|\blfs\b/g, "storage/striping", "stripe"],
  [/\bdarshan\b|\bdxt\b/g, "own/your-darshan", "io-log"],
  [/\bior\b|mdtest|io500|\bi\/?o\b|(slow|i\/o) (i\/?o|io|log|read|slow)/g, "own/your-io", "io-log"],
  [/slow(ly)?\b.*\bwrit\w*|writ\w*.*\bslow|node (can )?write|write bandwidth/g, "storage/io-node", "io-node"],
  [/\biobuf\b|buffer(s|ed|ing)?\b|small (reads|writes|calls|records)/g, "storage/iobuf", "iobuf"],
  [/checkpoint\w*|vpic|collective (buffering|i\/o)|shared file|file per process|mpi-?io|\bmpi_file_\w*|\bromio\w*|\bcb_\w+|trillion/g, "storage/trillion", "trillion"],
  [/acceptance|\bssp\b|sustained|contract\w*|promised|procure\w*/g, "monitoring/acceptance", "ssp"],
  [/(benchmark|performance) (history|regression|drift)|\bregression|reframe|got slower|\bupgrade|maintenance|nightly|\balarms?\b|\bbenchmarks?\b|\bhpl\b|\bhpcg\b/g, "own/your-benchmarks", "watch"],
  [/how many runs|\brepeat\w*|run times?\b|percentiles?|confidence|significant\w*|significance|speed-?up|error bars?|standard deviation|\bmedian\b|\btimings?\b|\bt-test\b|\boutliers?\b/g, "own/your-runs", "runs"],
  [/where did my job\w*|node ?list|placements/g, "own/your-placements", "locality"],
  [/machine file|own machine|lstopo|hwloc|lscpu|scontrol/g, "own/your-launch-lines", "place"],
];

// Letters of what is known of an explorer count beside those of what people ask about.
const KNOWN = 0.3;
// So many messages and options are named.
const NAMED = 3;

/** The two pages that answer best, as [page, explorer], from what people ask about and what is known of the explorers. */
export function answersFor(asked, finder, known) {
  const letters = new Map();
  const add = (page, explorer, more) => letters.set(page, { explorer, most: (letters.get(page)?.most ?? 0) + more });
  for (const [pattern, page, explorer] of ANSWERS) add(page, explorer, asked.toLowerCase().match(pattern)?.join("").length ?? 0);
  const best = new Map();
  for (const { entry, letters: held } of known) best.set(entry.explorer, Math.max(best.get(entry.explorer) ?? 0, held));
  for (const [explorer, held] of best) {
    const page = pageOf(explorer, finder);
    if (page) add(page, explorer, KNOWN * held);
  }
  const found = [...letters].filter(([, { most }]) => most > 0).sort(([, one], [, other]) => other.most - one.most);
  return found.slice(0, 2).map(([page, { explorer }]) => [`notebooks/${page}.html`, explorer]);
}

function pageOf(explorer, { pages }) {
  return ANSWERS.find(([, , shown]) => shown === explorer)?.[1] ?? pages[explorer];
}

/** Put the page that answers above what was found, with what is known of the words, and below it the box that takes any text. */
export async function startSearch(results) {
  const asked = new URLSearchParams(location.search).get("q")?.trim();
  if (!asked) return;
  const finder = await loaded();
  const known = finder.find(asked);
  const linked = (address, title) => make("li", {}, make("a", { href: address }, title));
  const answers = answersFor(asked, finder, known);
  // Where nothing holds most of the words, what holds any of them is better than nothing.
  const titled = (answers.length ? answers : answersFor(asked, finder, finder.find(asked, 0))).flatMap(([page, explorer]) => {
    const title = document.querySelector(`.bd-links__inner a[href="${page}"], nav a[href="${page}"]`)?.textContent.trim();
    return title ? [linked(`${page}#explorer-${explorer}`, title)] : [];
  });
  const named = known.filter(({ entry }) => entry.title && pageOf(entry.explorer, finder)).slice(0, NAMED);
  const lines = named.map(({ entry: { explorer, title, control, value } }) => {
    const setting = value ? new URLSearchParams({ [`${explorer}.${control}`]: value }) : `explorer-${explorer}`;
    return linked(`notebooks/${pageOf(explorer, finder)}.html#${setting}`, title);
  });
  const box = `book/index.html#${new URLSearchParams({ "identify.text": asked })}`;
  results.before(
    make(
      "div",
      { class: "hopper-first-answers" },
      titled.length > 0 && make("p", {}, "This page answers, with a tool to try:"),
      titled.length > 0 && make("ul", {}, ...titled),
      lines.length > 0 && make("p", {}, "The tools know of it:"),
      lines.length > 0 && make("ul", { class: "hopper-known" }, ...lines),
      make("p", {}, "An error message, a launch line, or a line of a log? ", make("a", { href: box }, "Let the box read it"), "."),
    ),
  );
}

let finder;

/** What the explorers know, or nothing where it cannot be had. */
async function loaded() {
  const reply = await fetch(new URL("finder.json", import.meta.url)).catch(() => null);
  return (finder ??= new Finder(reply?.ok ? await reply.json() : { pages: {}, entries: [] }));
}
