// Plots
