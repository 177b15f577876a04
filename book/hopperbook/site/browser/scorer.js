// Weights of the search: what a word is the title of, then the glossary, then the pages; the reference comes last.
// Sphinx puts this beside its own script and asks it for the score of each result.

/* exported Scorer */
var Scorer = {
  // Questions in readers' own words -> the page that answers.
  answers: [
    [/out of memory|\boom\b|oom.kill|memory per (task|core|process)|\bkilled\b/i, "notebooks/node/memory"],
    [/\berror\b|\bcrash|\babort|exit (code|signal)|\bquota\b|time ?limit|walltime|no space left/i, "notebooks/failure/diagnosis"],
    [/\bhangs?\b|\bhung\b|\bstuck\b/i, "notebooks/failure/bad-nodes"],
    [/\bslow(ly)?\b.*\bwrit|\bwrit.*\bslow(ly)?\b/i, "notebooks/storage/io-node"],
    [/\bpython\b|\bimports?\b/i, "notebooks/node/pages-and-libraries"],
    [/strip(e|ing)|lfs setstripe/i, "notebooks/storage/striping"],
    [/\baprun\b|\bsrun\b|cpu-bind|hyper-?thread|\bsmt\b|--hint|pinning|affinity|\bplacement\b/i, "notebooks/node/placement"],
  ],

  score: ([page, , , , score]) => {
    const asked = new URLSearchParams(location.search).get("q") ?? "";
    const answer = Scorer.answers.some(([words, leads]) => leads === page && words.test(asked));
    const kind = /^book\/api|^genindex/.test(page) ? 0.2 : page === "book/glossary" ? 1.4 : /^notebooks\//.test(page) ? 1.3 : 1;
    return (score + (answer ? 60 : 0)) * kind;
  },

  objNameMatch: 4,
  objPartialMatch: 2,
  objPrio: { 0: 1, 1: 0, 2: -5 },
  objPrioDefault: 0,
  title: 30,
  partialTitle: 12,
  term: 5,
  partialTerm: 2,
};
