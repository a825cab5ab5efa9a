() => {
  const texts = [...document.querySelectorAll('figure svg text')].filter(text => text.getBoundingClientRect().width);
  const size = text => { const {a, b} = text.getScreenCTM();
                         return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b); };
  const cut = texts.filter(text => { const box = text.getBoundingClientRect(),
                                           whole = text.closest('svg').getBoundingClientRect();
                                     return box.left < whole.left - 1 || box.right > whole.right + 1; });
  return {count: texts.length, least: Math.min(...texts.map(size)), cut: cut.map(text => text.textContent)}; }
